"""`smlocal report`: one page with everything about a job, to send to others."""

import sys

import click

from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.links import with_file_links
from smlocal.jobs.finish.report_path import check_report_path, write_report


@shown_command(
    "report",
    examples=(
        ("smlocal report", "Write the report of the newest job to a file of its name."),
        ("smlocal report my-job --html -", "Print the report."),
    ),
)
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

    The page is one HTML file without scripts, fonts, images or links to other files.
    """
    if opened and path == "-":
        raise click.UsageError("--open needs a file, and --html - writes to standard output.")

    job = job_named(name)
    if path == "-":
        click.echo(job.report(), nl=False)
        return
    target = path or f"{name}.html"
    check_report_path(target)
    write_report(target, job.report())
    if path is None:
        click.echo(with_file_links(target, [target], sys.stdout))
    else:
        click.echo(with_file_links(f"Report of {name}: {path}", [path], sys.stderr), err=True)
    if opened:
        from smlocal.cli.browser import open_page

        open_page(target)
