"""The job file in the current folder, for commands that are given none."""

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from smlocal.jobs.kind import Kind

NAMES = ("job.yaml", "job.yml", "job.json")
JOB_FILE_ENDINGS = (".yaml", ".yml", ".json")
_MOST_LOOKED_AT = 100
"""Files of a folder."""


def files_here() -> list[str]:
    """Those of the usual names that are there."""
    return [name for name in NAMES if os.path.isfile(name)]


def described_here() -> "dict[str, Kind]":
    """The files of this folder that describe a job of any kind by another name."""
    from smlocal.api.kinds_of_files import kind_in_file  # not for a command that has its file

    found = {}
    names = sorted(each for each in os.listdir() if each.endswith(JOB_FILE_ENDINGS) and each not in NAMES)
    for name in names[:_MOST_LOOKED_AT]:
        kind = kind_in_file(name)
        if kind is not None:
            found[name] = kind
    return found


def job_file_here(otherwise: str, *, quiet: bool = False) -> str:
    """The only one, named on standard error unless `quiet`; an error if that is not one file.

    `otherwise` says what else can be written on the command line.
    """
    found = files_here()
    if len(found) == 1:
        if not quiet:
            click.echo(f"job file: {found[0]}", err=True)
        return found[0]
    if found:
        raise click.UsageError(f"There are {' and '.join(found)} in this folder. Name the one that is meant.")
    others = described_here()
    named = ", ".join(f"{shlex.quote(name)} ({kind.spoken})" for name, kind in others.items())
    here = f" Name the file that is meant: {named}." if named else ""
    raise click.UsageError(f"{otherwise} There is no {', '.join(NAMES[:-1])} or {NAMES[-1]} in this folder.{here}")


def with_job_file(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a job, with the file that is here if they describe none."""
    if given["job"] is not None or given["image"]:
        return given
    quiet = bool(given.get("quiet")) or given.get("progress") == "json"  # then stderr is for programs
    otherwise = "Give a job file, or describe the job with --image and other flags."
    return {**given, "job": job_file_here(otherwise, quiet=quiet)}
