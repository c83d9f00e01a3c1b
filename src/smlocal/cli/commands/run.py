"""`smlocal run`: carry a job out and wait for its end."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.job_options import job_options, read_job_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from smlocal.cli.terminal.screen import Screen
    from smlocal.errors import SmlocalError, StandardOutputError
    from smlocal.job.prepare.prepare import Prepared
    from smlocal.job.supervisor import Result
    from smlocal.store.jobs import Store

EXIT_CODES = {"Completed": 0, "Failed": 1, "Stopped": 4}
_SIGNALLED = 128


@click.command("run")
@job_options
@click.option("--pull", type=click.Choice(["missing", "always", "never"]), help="When to pull the image; else missing.")
@click.option("--replace", is_flag=True, help="Replace a finished job of the same name.")
@click.option("--json", "as_json", is_flag=True, help="Print the final describe answer; output goes to stderr.")
@click.option("--report", metavar="FILE", help="Write the final describe answer there, however the job ends.")
@click.option("--detach", "-d", is_flag=True, help="Return as soon as the job has its supervisor; print its name.")
@click.option("--quiet", "-q", is_flag=True, help="Print only what the containers write.")
def command(*, replace: bool, as_json: bool, report: str | None, detach: bool, quiet: bool, **given: Any) -> int:
    """Run a training job and wait for its end.

    JOB is a CreateTrainingJob request in YAML or JSON ("-" reads it from standard input). Flags override it;
    --image alone describes a job without a file.
    """
    job, name = read_job_options(given)
    if report is not None:
        from smlocal.report.report_file import check_report_path

        report = os.path.abspath(report)
        check_report_path(report)

    from smlocal.cli.terminal.screen import Screen
    from smlocal.engine.docker import connect
    from smlocal.job.prepare.names import check_name
    from smlocal.job.prepare.prepare import prepare
    from smlocal.job.supervisor import supervise
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    trouble = None
    screen = Screen(output_to=(sys.stderr if as_json else sys.stdout).fileno(), quiet=quiet)
    try:
        engine = connect()
        with Store.open(home_directory()) as store:
            check_name(store, name, replace=replace)
            if store.left_on_engines():
                from smlocal.job.finish.engine_leftovers import clear_this_engine

                for each in clear_this_engine(store, engine):
                    screen.warning(f"removed what the job {each} had left on this engine")
            prepared = prepare(job, name=name, home=store.home, engine=engine, reporter=screen, strict=given["strict"])
            if not detach:
                try:
                    result = supervise(prepared, engine=engine, store=store, reporter=screen, replace=replace)
                finally:
                    trouble = _report(report, store, prepared)
    except BaseException:
        screen.finish()
        raise
    if detach:
        _detach(prepared, store.home, report, replace=replace)
        click.echo(_answer_so_far(store.home, name) if as_json else name)
        return 0
    code, unwritten = _finish(result, screen, as_json=as_json, quiet=quiet)
    for error in (trouble, unwritten):
        if error is not None:
            from smlocal.cli.terminal.errors import show_error

            show_error(error, debug=False, as_json=False)  # stdout has the job's document
            code = code or error.exit_code
    return code


def _report(path: str | None, store: "Store", prepared: "Prepared") -> "SmlocalError | None":
    if path is None:
        return None
    from smlocal.report.report_file import write_result

    return write_result(path, store, prepared.plan)


def _detach(prepared: "Prepared", home: str, report: str | None, *, replace: bool) -> None:
    from smlocal.engine.docker import connect
    from smlocal.job.control.detach import leave_behind
    from smlocal.job.reporter import Silent
    from smlocal.job.supervisor import supervise
    from smlocal.store.jobs import Store

    def work(begun: "Callable[[], None]") -> None:
        with Store.open(home) as store:
            try:
                supervise(prepared, engine=connect(), store=store, reporter=Silent(), owned=begun, replace=replace)
            finally:
                _report(report, store, prepared)

    leave_behind(work)


def _answer_so_far(home: str, name: str) -> str:
    import json

    from smlocal.job.finish.describe import describe_job
    from smlocal.store.jobs import Store

    with Store.open(home) as store:
        return json.dumps(describe_job(store, name), indent=2)


def _finish(
    result: "Result", screen: "Screen", *, as_json: bool, quiet: bool
) -> "tuple[int, StandardOutputError | None]":
    """Say how the job ended. The exit code, and why the answer could not be printed if it could not."""
    text = ""
    if not quiet:
        from smlocal.cli.views.summary import summary

        text = summary(result.answer, lines_shown=screen.lines_shown)
    screen.finish(text, _be_killable)
    unwritten = _print_answer(result) if as_json else None
    if result.signal is not None and result.status == "Stopped":
        return _SIGNALLED + (15 if result.signal == 1 else result.signal), unwritten
    return EXIT_CODES[result.status], unwritten


def _print_answer(result: "Result") -> "StandardOutputError | None":
    import json

    from smlocal.cli.terminal.output import Sink
    from smlocal.cli.terminal.standard_streams import ReaderGoneError, output_errors
    from smlocal.errors import StandardOutputError

    try:
        with output_errors():
            Sink(sys.stdout.fileno()).write(f"{json.dumps(result.answer, indent=2)}\n".encode(), _be_killable)
    except StandardOutputError as error:
        return error
    except ReaderGoneError:  # the exit code is the job's
        pass
    return None


def _be_killable() -> None:
    """The job has ended and somebody does not read what we say of it: a signal may end this process again."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
