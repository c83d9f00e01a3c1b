"""`smlocal` alone: what can be done next in this folder. No engine is asked."""

import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.api.job_list import list_jobs
from smlocal.base.readable import ago
from smlocal.cli.job_file_here import NAMES, files_here
from smlocal.cli.terminal.layout import shortened, width_of
from smlocal.cli.terminal.printable import printable
from smlocal.errors import SmlocalError
from smlocal.jobs.kinds import showing
from smlocal.jobs.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.api.job_list import ListedJob

_COLUMN = 28
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
    files, built = files_here(), os.path.isfile("Dockerfile")
    found = [*files, *(["Dockerfile"] if built else [])]
    if not found:
        yield f"In this folder: neither a job file ({NAMES[0]}) nor a Dockerfile"
        yield from _commands(
            ("smlocal demo", "a first job, with an image that is built for it"),
            ("smlocal init IMAGE", "write job.yaml for an image"),
        )
        return
    yield f"In this folder: {', '.join(found)}"
    if not files:
        yield from _commands(
            ("smlocal init", "write job.yaml for the image of the Dockerfile"),
            ("smlocal run --build .", "build the image and run it as a job"),
        )
        return
    name = "" if len(files) == 1 else f" {files[0]}"
    yield from _commands(
        (f"smlocal run{name}", f"run {files[0]}"),
        *([(f"smlocal run{name} --build .", "build the image from the Dockerfile first")] if built else []),
        (f"smlocal plan{name}", "show what a run would do, and what the service would do differently"),
    )


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
