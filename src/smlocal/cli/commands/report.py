"""`smlocal report`: one page with everything about a job, to send to others."""

import click

from smlocal.api.training_job import TrainingJob
from smlocal.cli.job_argument import job_argument


@click.command("report")
@job_argument
@click.option(
    "--html",
    "path",
    type=click.Path(readable=False),
    metavar="FILE",
    required=True,
    help='Where to write the page; "-" is standard output.',
)
def command(*, name: str, path: str) -> None:
    """Write an HTML report about a job, finished or running.

    One HTML file without scripts, fonts or images, and without links to other files.
    """
    from smlocal.jobs.finish.report_files import check_report_path, write_report

    job = TrainingJob(name)
    if path == "-":
        click.echo(job.report(), nl=False)
        return
    check_report_path(path)
    write_report(path, job.report())
    click.echo(f"Report of {name}: {path}", err=True)
