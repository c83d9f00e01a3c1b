"""`smlocal` alone: what can be done next in this folder. No engine is asked."""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.api.job_list import list_jobs
from smlocal.api.kinds_of_files import kind_in_file
from smlocal.base.readable import ago
from smlocal.cli.job_file_here import NAMES, described_here, files_here
from smlocal.cli.terminal.layout import shortened, width_of
from smlocal.cli.terminal.printable import printable
from smlocal.errors import SmlocalError
from smlocal.jobs.kinds import showing
from smlocal.jobs.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.api.job_list import ListedJob
    from smlocal.jobs.kind import Kind

_COLUMN = 28
_MOST_FILES = 3
_WIDTH = 100
"""Where there is no terminal."""


def overview() -> Iterator[str]:
    """At most twelve lines."""
    width = width_of(sys.stdout) or _WIDTH
    for line in (*_folder(), *_newest(), *_commands(("smlocal --help", "all commands"))):
        yield shortened(printable(line), width)


def _commands(*rows: tuple[str, str]) -> Iterator[str]:
    for command, does in rows:
        yield f"  {command:<{_COLUMN}} {does}"


def _folder() -> Iterator[str]:
    files, built, others = files_here(), os.path.isfile("Dockerfile"), described_here()
    kinds = {**{name: kind_in_file(name) for name in files}, **others}
    found = [f"{name} ({kind.spoken})" if kind else name for name, kind in kinds.items()]
    found += ["Dockerfile"] * built
    if not found:
        yield f"In this folder: neither a job file ({NAMES[0]}) nor a Dockerfile"
        yield from _commands(
            ("smlocal demo", "a first job, with an image that is built for it"),
            ("smlocal init IMAGE", "write job.yaml for an image"),
        )
        return
    yield f"In this folder: {', '.join(found)}"
    if not kinds:
        yield from _commands(
            ("smlocal init", "write job.yaml for the image of the Dockerfile"),
            ("smlocal run --build .", "build the image and run it as a job"),
        )
        return
    for name, kind in (*kinds.items(),)[:_MOST_FILES]:
        yield from _commands(_started(name, kind, alone=len(files) == 1))
    if built and files:
        name = "" if len(files) == 1 else f" {files[0]}"
        yield from _commands((f"smlocal run{name} --build .", "build the image from the Dockerfile first"))
    first = next(iter(kinds))
    planned = "" if files == [first] else f" {shlex.quote(first)}"
    yield from _commands(
        (f"smlocal plan{planned}", "show what a run would do, and what the service would do differently")
    )


def _started(name: str, kind: "Kind | None", *, alone: bool) -> tuple[str, str]:
    """The command that starts a file. `alone`: the command finds the file without its name."""
    command = "run" if kind is None else kind.started_by
    given = "" if alone and name in NAMES and command == "run" else f" {shlex.quote(name)}"
    said = name if kind is None or name in NAMES else f"the {kind.spoken} of {name}"
    return f"smlocal {command}{given}", f"{command} {said}"


def _newest() -> Iterator[str]:
    try:
        if not os.path.isdir(home_directory()):  # the first command of a person makes none
            return

        jobs = list_jobs(limit=1)
    except SmlocalError as error:
        yield f"Jobs: {error.sentence}"
        return
    if jobs:
        yield from _job(jobs[0])


def _job(job: "ListedJob") -> Iterator[str]:
    record = job.record
    state, phase = showing(record.platform).words(record)
    if not record.status.terminal:
        yield f"Newest job: {record.name}   {', '.join(filter(None, (state, phase)))}"
        yield from _commands(("smlocal logs -f", "follow its log"), ("smlocal jobs --watch", "watch all jobs"))
        return
    yield f"Newest job: {record.name}   {state} {ago(time.time() - record.modified)}"
    if record.failure_reason:
        yield f"  {' '.join(record.failure_reason.split())}"
        yield from _commands(
            ("smlocal logs -n 20", "the end of its log"), ("smlocal describe", "why it failed, and what to try")
        )
    else:
        yield from _commands(("smlocal describe", "its result"), ("smlocal report --open", "a page about it"))
