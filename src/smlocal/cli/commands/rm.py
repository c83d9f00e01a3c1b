"""`smlocal rm`: remove finished jobs."""

import click

from smlocal.cli.job_argument import jobs_argument


@click.command("rm")
@jobs_argument
@click.option("--stop", is_flag=True, help="Kill jobs that have not ended, and remove them when they have.")
@click.option("--force", is_flag=True, help="Also forget what the jobs may have left on an unreachable engine.")
@click.pass_context
def command(ctx: click.Context, *, names: tuple[str, ...], stop: bool, force: bool) -> int:
    """Remove finished jobs and their logs. Artifacts in the output folder are kept.

    NAME is a job, or a shell pattern with * ? [] in quotes.
    If one job cannot be removed, the others still are. The exit code is then the highest one.
    """
    from smlocal.api.job_list import matching_jobs
    from smlocal.api.training_job import TrainingJob
    from smlocal.cli.terminal.errors import show_error
    from smlocal.errors import SmlocalError

    def say(line: str) -> None:
        click.echo(line, err=True)

    worst = 0
    found: list[str] = []
    for pattern in names:
        try:
            matched = matching_jobs(pattern)
        except SmlocalError as error:
            show_error(error, debug=ctx.obj["debug"], as_json=False)
            worst = max(worst, error.exit_code)
        else:
            found += matched
            if not matched:
                say(f"no job matches {pattern}")
    for name in dict.fromkeys(found):
        try:
            TrainingJob(name).remove(stop=stop, force=force, on_message=say)
        except SmlocalError as error:
            show_error(error, debug=ctx.obj["debug"], as_json=False)
            worst = max(worst, error.exit_code)
        else:
            say(f"removed {name}")
    return worst
