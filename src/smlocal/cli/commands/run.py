"""`smlocal run`: run a job and wait until it ends."""

import json
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.cli.ci_messages import LogGroup, annotated_errors, chosen_service, ci_option
from smlocal.cli.image_build import with_built_image
from smlocal.cli.job_file_here import files_here, with_job_file
from smlocal.cli.job_options import job_options, read_job_options, setting_option
from smlocal.cli.screen_options import SCREEN_OPTIONS, mode_of, screen_of
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.cli.terminal.messages import NonblockingWriter, ProgressMode
from smlocal.cli.terminal.printable import json_without_commands
from smlocal.cli.terminal.standard_streams import ReaderGoneError, output_errors
from smlocal.errors import SmlocalError, StandardOutputError
from smlocal.jobfile.option import Head
from smlocal.jobs.finish.report_path import usable_report

if TYPE_CHECKING:
    from smlocal.base.ci.services import CiService
    from smlocal.cli.job_argument import job_named
    from smlocal.cli.terminal.screen import Screen
    from smlocal.jobfile.job_reading import AskedJob
    from smlocal.jobs.supervision import Result
else:
    job_named = at_use("smlocal.cli.job_argument", "job_named")

EXIT_CODES = {"Completed": 0, "Failed": 1, "Stopped": 4}
_SIGNALLED = 128


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about how a job is run, and how its end is told, to a command."""
    options = (
        setting_option("pull"),
        setting_option("keep"),
        setting_option("wait_for_debugger"),
        shown_option(
            "--build",
            type=click.Path(readable=False),
            metavar="DIR",
            help="Build the Dockerfile in DIR first, as the image of the job.",
            head=Head.RUN,
            common=True,
        ),
        shown_option(
            "--replace", is_flag=True, help="Replace a finished job of the same name.", head=Head.RUN, common=True
        ),
        shown_option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print the final job description as JSON; container output goes to stderr.",
            head=Head.RESULT,
            common=True,
        ),
        shown_option(
            "--report",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Write the final job description to FILE as JSON, however the job ends.",
            head=Head.RESULT,
            common=True,
        ),
        shown_option(
            "--junit",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Write the outcome to FILE as JUnit XML, however the job ends.",
            head=Head.RESULT,
        ),
        ci_option,
        shown_option(
            "--detach",
            "-d",
            is_flag=True,
            help="Run the job in the background; print its name.",
            head=Head.RUN,
            common=True,
        ),
        shown_option(
            "--verbose",
            "-v",
            is_flag=True,
            help="Also print a docker command that starts the job by hand.",
            head=Head.SCREEN,
        ),
        *SCREEN_OPTIONS,
    )
    for option in reversed(options):
        command = option(command)
    return command


@shown_command(
    "run",
    examples=(
        ("smlocal run job.yaml", "Run the job of a file."),
        ("smlocal run job.yaml -p epochs=3 --instance-count 2", "Change the request for this run."),
        ("smlocal run --image my-image --channel train=./data --output ./out", "Run a job without a file."),
    ),
)
@job_options
@run_options
def command(*, ci: str | None, **given: Any) -> int:
    """Run a job and wait until it ends.

    JOB is the request of a training, processing, tuning or transform job, a pipeline, or a job of AI Platform Training
    or a custom job (smlocal help ai-platform), in YAML or JSON; "-" reads it from standard input. Default: the only one
    of job.yaml, job.yml and job.json in this folder. Options override it. With --image, no file is needed.
    """
    if given["build"] is None or files_here():
        given = with_job_file(given)
    file = given["job"] if given["job"] != "-" else None

    def read() -> "tuple[AskedJob, str]":
        return read_job_options(with_built_image(given, image_needed=given["job"] is None))

    return run_job(read, given, ci=ci, title="run", file=file)


def run_job(
    read: "Callable[[], tuple[AskedJob, str]]",
    given: dict[str, Any],
    *,
    ci: str | None,
    title: str,
    file: str | None,
    conclude: "Callable[[Result], int] | None" = None,
) -> int:
    """Run the job that `read` returns as the options say; returns the exit code. `file`: where errors are annotated.

    `conclude` is called in place of printing the job's document when the job has ended, unless a signal has ended it.
    It returns the exit code.
    """
    if mode_of(given) is not ProgressMode.JSON:
        service = chosen_service(ci)
        with annotated_errors(service, file):
            return _run(*read(), given, ci=ci, title=title, service=service, file=file, conclude=conclude)
    # A program reads stderr: errors are events, and nothing is for a CI service.
    from smlocal.cli.terminal.event_screen import print_error

    try:
        return _run(*read(), given, ci=ci, title=title, service=None, file=file, conclude=conclude)
    except SmlocalError as error:
        print_error(error, as_json=given["as_json"])
        return error.exit_code


def _run(
    job: "AskedJob",
    name: str,
    given: dict[str, Any],
    *,
    ci: str | None,
    title: str,
    service: "CiService | None",
    file: str | None,
    conclude: "Callable[[Result], int] | None",
) -> int:
    report, junit = usable_report(given["report"]), usable_report(given["junit"])
    if report is not None and report == junit:
        raise click.UsageError("--report and --junit name the same file.")

    from smlocal.api.execution import check_name, execute, execute_in_background
    from smlocal.jobs.control.requests import StopSignals

    detach, mode = given["detach"], mode_of(given)
    if given["build"] is not None:
        from smlocal.cli.job_image import build_job_image

        check_name(name, replace=given["replace"])  # before a build that may take long
        build_job_image(job, given["build"], quiet=mode in {ProgressMode.QUIET, ProgressMode.JSON})
    group = LogGroup(service if not (detach or mode is ProgressMode.QUIET) else None, f"smlocal {title} {name}")
    screen = screen_of(given, in_ci=chosen_service(ci) is not None)
    screen.verbose = given["verbose"]
    asked: Any = {"name": name, "strict": given["strict"], "replace": given["replace"], "reporter": screen}
    asked |= {"report": report, "junit": junit}
    group.begin()
    try:
        if detach:
            execute_in_background(job, **asked)
        else:
            result, not_reported = execute(job, **asked, requests=StopSignals())
    except BaseException:
        screen.finish(group.end())
        raise
    if detach:
        screen.finish()
        click.echo(_answer_so_far(name) if given["as_json"] else name)
        return 0
    code, unwritten = _finish(result, screen, group, as_json=given["as_json"] and conclude is None)
    if conclude is not None and result.signal is None:
        code = conclude(result)
    if service is not None:
        from smlocal.cli.job_for_ci import annotate_job

        annotate_job(service, result.view, file)
    for error in (*not_reported, unwritten):
        if error is not None:
            screen.show_error(error, debug=click.get_current_context().obj["debug"])  # stdout has the job's document
            code = code or error.exit_code
    return code


def _answer_so_far(name: str) -> str:
    return json_without_commands(json.dumps(job_named(name).describe(), indent=2))


def _finish(
    result: "Result", screen: "Screen", group: LogGroup, *, as_json: bool
) -> "tuple[int, StandardOutputError | None]":
    """Print how the job ended. Returns the exit code, and the error if the answer could not be printed."""
    screen.ended(result.view, group.end(), _allow_signals)
    unwritten = _print_answer(result) if as_json else None
    if result.signal is not None and result.status == "Stopped":
        return _SIGNALLED + (15 if result.signal == 1 else result.signal), unwritten
    return EXIT_CODES[result.status], unwritten


def _print_answer(result: "Result") -> "StandardOutputError | None":
    try:
        with output_errors():
            NonblockingWriter(sys.stdout.fileno()).write(
                f"{json_without_commands(json.dumps(result.answer, indent=2))}\n".encode(), _allow_signals
            )
    except StandardOutputError as error:
        return error
    except ReaderGoneError:  # the exit code is the job's
        pass
    return None


def _allow_signals() -> None:
    """Let signals end this process: the job has ended, and nothing reads the output."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
