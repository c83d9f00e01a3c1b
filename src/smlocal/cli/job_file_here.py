"""The job file in the current folder, for commands that are given none."""

import os
from typing import Any

import click

NAMES = ("job.yaml", "job.yml", "job.json")
JOB_FILE_ENDINGS = (".yaml", ".yml", ".json")


def files_here() -> list[str]:
    """Those of the usual names that are there."""
    return [name for name in NAMES if os.path.isfile(name)]


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
    raise click.UsageError(f"{otherwise} There is no {', '.join(NAMES[:-1])} or {NAMES[-1]} in this folder.")


def with_job_file(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a job, with the file that is here if they describe none."""
    if given["job"] is not None or given["image"]:
        return given
    quiet = bool(given.get("quiet")) or given.get("progress") == "json"  # then stderr is for programs
    otherwise = "Give a job file, or describe the job with --image and other flags."
    return {**given, "job": job_file_here(otherwise, quiet=quiet)}
