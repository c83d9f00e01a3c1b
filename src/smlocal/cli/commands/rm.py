"""`smlocal rm`: remove finished jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from smlocal.cli.job_argument import AGE_OPTION, ENDED, STATUS_OPTION, job_named, jobs_argument, selection_of
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.errors import show_error
from smlocal.errors import SmlocalError

if TYPE_CHECKING:
    from smlocal.api.job_list import JobSelection


@shown_command(
    "rm",
    examples=(
        ("smlocal rm my-job", "Remove one job."),
        ("smlocal rm --status Failed --older-than 7d", "Remove jobs that failed over a week ago."),
        ("smlocal rm --stop 'test-*'", "Kill and remove all jobs with such names."),
    ),
)
@jobs_argument
@STATUS_OPTION
@AGE_OPTION
@click.option("--all", "everything", is_flag=True, help="Choose all ended jobs.")
@click.option("--stop", is_flag=True, help="Kill jobs that have not ended, then remove them.")
@click.option(
    "--force", is_flag=True, help="Remove jobs even if they may have left something on an unreachable engine."
)
@click.option(
    "--abandon", is_flag=True, help="End and remove jobs that have not ended and whose engine is gone for good."
)
@click.pass_context
def command(
    ctx: click.Context,
    *,
    names: tuple[str, ...],
    statuses: tuple[str, ...],
    older_than: float | None,
    everything: bool,
    stop: bool,
    force: bool,
    abandon: bool,
) -> int:
    """Remove finished jobs and their logs. Artifacts in the output folder are kept.

    NAME is a job, or a shell pattern with * ? [] in quotes. --all, --status and --older-than choose among these jobs,
    or among all. They keep unfinished jobs, and jobs with artifacts that are not packed yet. If one job cannot be
    removed, the others are, and the exit code is the highest one. Other names of this command: delete, remove.
    """
    selection = selection_of(ENDED if everything and not statuses else statuses, older_than)
    _check(names, selects=selection is not None, stop=stop, abandon=abandon)

    codes = [0]

    @contextmanager
    def going_on() -> Iterator[None]:
        try:
            yield
        except SmlocalError as error:
            show_error(error, debug=ctx.obj["debug"], as_json=False)
            codes.append(error.exit_code)

    found: list[str] = []
    for pattern in names or ("*",):
        with going_on():
            found += _matching(pattern, selection, named=bool(names), stop=stop)
    removed = 0
    for name in dict.fromkeys(found):
        with going_on():
            removed += _remove(name, stop=stop, force=force, abandon=abandon, chosen=selection is not None)
    if selection is not None and removed:
        _say(f"{removed:,} {'job' if removed == 1 else 'jobs'} removed")
    return max(codes)


def _say(line: str) -> None:
    click.echo(line, err=True)


def _matching(pattern: str, selection: "JobSelection | None", *, named: bool, stop: bool) -> list[str]:
    from smlocal.api.job_list import matching_jobs

    matched = matching_jobs(pattern, selection, stop=stop)
    if not matched:
        options = "" if selection is None else " and the options"
        _say(f"no job matches {pattern}{options}" if named else "no job matches the options")
    return matched


def _remove(name: str, *, stop: bool, force: bool, abandon: bool, chosen: bool) -> bool:
    """False for a job that only options have chosen, and that has the only copy of its artifacts."""
    from smlocal.api.job_list import has_unpacked_artifacts

    if chosen and has_unpacked_artifacts(name):
        _say(f"kept {name}: its artifacts are not packed (smlocal pack {name}, or smlocal rm {name})")
        return False
    job_named(name).remove(stop=stop, force=force, abandon=abandon, on_message=_say)
    _say(f"removed {name}")
    return True


def _check(names: tuple[str, ...], *, selects: bool, stop: bool, abandon: bool) -> None:
    if not names and not selects:
        raise click.UsageError("Missing argument 'NAME...', or --all, --status or --older-than.")
    if selects and (stop or abandon):
        option = "--stop" if stop else "--abandon"
        raise click.UsageError(f"{option} cannot be combined with --all, --status or --older-than.")
    if stop and abandon:
        raise click.UsageError("--stop and --abandon: an engine that is gone stops nothing.")
