"""`smlocal report`: one page with everything about a job, to send to others."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

import click

from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.links import with_file_links
from smlocal.errors.showing import BrowserMissingError
from smlocal.jobs.finish.report_path import check_report_path, write_report

_PROGRAMS = ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER")
"""One of them is set where there is a screen, or where somebody has chosen a browser."""
_IN_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD")
_FAILS_WITHIN = 5.0
"""Seconds. The program may stay until the browser is closed."""


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
        open_page(target)


def open_page(path: str) -> None:
    """Open a file, or raise `BrowserMissingError`."""
    if any(os.environ.get(each) for each in _IN_CI):
        raise _missing(path, "this is a CI service")
    if sys.platform != "darwin" and not any(os.environ.get(each) for each in _SCREENS):
        raise _missing(path, "neither DISPLAY nor WAYLAND_DISPLAY is set, so there is no screen")
    program = next((each for each in _PROGRAMS if shutil.which(each)), None)
    if program is None:
        raise _missing(path, f"{' and '.join(_PROGRAMS)} {'is' if len(_PROGRAMS) == 1 else 'are'} not installed")
    try:
        process = subprocess.Popen(
            [program, os.path.abspath(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _missing(path, f"{program} cannot be started: {error.strerror}") from error
    with suppress(subprocess.TimeoutExpired):
        if process.wait(_FAILS_WITHIN) != 0:
            raise _missing(path, f"{program} exited with {process.returncode}")


def _missing(path: str, why: str) -> BrowserMissingError:
    return BrowserMissingError(
        f"the page was written, but no browser can be opened: {why}", remedy=[f"Open it yourself: {path}"]
    )
