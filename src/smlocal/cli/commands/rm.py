"""`smlocal rm`: remove finished jobs."""

from functools import partial
from typing import TYPE_CHECKING

import click

from smlocal.cli.job_argument import jobs_argument
from smlocal.cli.job_selection import AGE_OPTION, STATUS_OPTION, selection_of

if TYPE_CHECKING:
    from smlocal.errors import SmlocalError


@click.command("rm")
@partial(jobs_argument, required=False)
@STATUS_OPTION
@AGE_OPTION
@click.option("--stop", is_flag=True, help="Kill jobs that have not ended, and remove them when they have.")
@click.option("--force", is_flag=True, help="Also forget what the jobs may have left on an unreachable engine.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    names: tuple[str, ...],
    statuses: tuple[str, ...],
    older_than: float | None,
    stop: bool,
    force: bool,
) -> int:
    """Remove finished jobs and their logs. Artifacts in the output folder are kept.

    NAME is a job, or a shell pattern with * ? [] in quotes. --status and --older-than choose among these jobs, or among
    all of them; jobs that have not ended, and those with artifacts that are not packed yet, then stay.
    If one job cannot be removed, the others still are. The exit code is then the highest one.
    """
    from smlocal.api.job_list import has_unpacked_artifacts, matching_jobs
    from smlocal.api.training_job import TrainingJob
    from smlocal.cli.terminal.errors import show_error
    from smlocal.errors import SmlocalError

    selection = selection_of(statuses, older_than)
    _check(names, selects=selection is not None, stop=stop)

    def say(line: str) -> None:
        click.echo(line, err=True)

    def failed(error: "SmlocalError") -> int:
        show_error(error, debug=ctx.obj["debug"], as_json=False)
        return error.exit_code

    worst = 0
    found: list[str] = []
    for pattern in names or ("*",):
        try:
            matched = matching_jobs(pattern, selection)
        except SmlocalError as error:
            worst = max(worst, failed(error))
        else:
            found += matched
            if not matched:
                options = "" if selection is None else " and the options"
                say(f"no job matches {pattern}{options}" if names else "no job matches the options")
    removed = 0
    for name in dict.fromkeys(found):
        try:
            if selection is not None and has_unpacked_artifacts(name):
                say(f"kept {name}: its artifacts are not packed (smlocal pack {name}, or smlocal rm {name})")
                continue
            TrainingJob(name).remove(stop=stop, force=force, on_message=say)
        except SmlocalError as error:
            worst = max(worst, failed(error))
        else:
            removed += 1
            say(f"removed {name}")
    if selection is not None and removed:
        say(f"{removed:,} {'job' if removed == 1 else 'jobs'} removed")
    return worst


def _check(names: tuple[str, ...], *, selects: bool, stop: bool) -> None:
    if not names and not selects:
        raise click.UsageError("Missing argument 'NAME...', or --status or --older-than.")
    if selects and stop:
        raise click.UsageError("--status and --older-than choose jobs that have ended: --stop is not for them.")
