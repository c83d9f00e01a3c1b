"""`smlocal report`: one page with everything about a job, to send to others."""

import click

from smlocal.cli.job_argument import job_argument


@click.command("report")
@job_argument
@click.option(
    "--html",
    "path",
    type=click.Path(readable=False),
    metavar="FILE",
    help='Where to write the page; "-" is standard output. Default: NAME.html in this folder.',
)
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
def command(*, name: str, path: str | None, opened: bool) -> None:
    """Write an HTML report about a job, finished or running.

    One HTML file without scripts, fonts or images, and without links to other files.
    """
    if opened and path == "-":
        raise click.UsageError("--open needs a file, and --html - writes to standard output.")
    from smlocal.api.training_job import TrainingJob
    from smlocal.jobs.finish.report_files import check_report_path, write_report

    job = TrainingJob(name)
    if path == "-":
        click.echo(job.report(), nl=False)
        return
    target = path or f"{name}.html"
    check_report_path(target)
    write_report(target, job.report())
    if path is None:
        click.echo(target)
    else:
        click.echo(f"Report of {name}: {path}", err=True)
    if opened:
        from smlocal.cli.browser import open_page

        open_page(target)
