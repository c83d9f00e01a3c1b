"""Follow a job of the service on the screen of a run."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.terminal.printable import json_without_commands
from smlocal.engine.interface import Written
from smlocal.errors import SmlocalError
from smlocal.jobs.finish.report_path import write_report
from smlocal.service.job_kind import kind_of
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen

EXIT_CODES = {"Completed": 0, "Failed": 1, "Stopped": 4}
SIGNALLED = 128
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _View:
    """Shows what `service.submission` tells."""

    def __init__(self, screen: "Screen") -> None:
        self._screen = screen
        self.phase_began, self.phase_ended = screen.phase_began, screen.phase_ended
        self.working, self.warning = screen.working, screen.warning

    def lines(self, host: str, data: bytes) -> None:
        self._screen.output(host, Written(data, [(1, data)]))


class StopSignals:
    """The stop signals since the last look. While a question is asked they end it."""

    def __init__(self) -> None:
        self.number: int | None = None

    def __call__(self) -> bool:
        """True after a signal."""
        return self.number is not None

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Within this block a signal only sets `number`."""

        def handle(number: int, frame: FrameType | None) -> None:
            del frame
            self.number = number

        handled = [each for each in _STOP_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
        before = {each: signal.signal(each, handle) for each in handled}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def follow_job(service: "Service", name: str, screen: "Screen", *, ask: bool, as_json: bool, report: str | None) -> int:
    """Show the job until it ends; returns the exit code of the command.

    A signal stops the job: Ctrl-C after a question if `ask`, and a second one leaves the job alone.
    """
    from smlocal.service.submission import Followed, stop

    followed = Followed(service, name, _View(screen))
    stopped_by: int | None = None
    while True:
        signals = StopSignals()
        try:
            with signals.noticed():
                answer = followed.follow(signals)
        except SmlocalError as error:
            screen.finish()
            raise _with_job(error, service, name) from error
        if answer is not None:
            return _ended(answer, followed.tails, screen, as_json=as_json, report=report, stopped_by=stopped_by)
        number = signals.number or signal.SIGINT
        if stopped_by is not None or not may_stop(name, screen, number, ask=ask):
            screen.finish()
            click.echo(_runs_on(service, name), err=True)
            return SIGNALLED + number
        try:
            stop(service, name)
        except SmlocalError as error:
            screen.finish()
            raise _with_job(error, service, name) from error
        stopped_by = number
        screen.progress("◌ Stopping: SIGTERM, and up to 120 s to save its work (Ctrl-C again to leave it)")


def may_stop(name: str, screen: "Screen", number: int, *, ask: bool) -> bool:
    """What the user answers. Without a terminal nobody can be asked, and a job is not stopped unasked."""
    if not ask:
        return True
    if number != signal.SIGINT or not (os.isatty(0) and os.isatty(2)):
        return False
    screen.pause()
    try:
        return click.confirm(f"Stop {name}? Otherwise it runs on, and only this command ends", err=True)
    except click.Abort:
        return False


def _ended(
    answer: dict[str, Any],
    tails: dict[str, bytes],
    screen: "Screen",
    *,
    as_json: bool,
    report: str | None,
    stopped_by: int | None,
) -> int:
    from smlocal.service.submission import answer_document, failure_hints

    document = answer_document(answer)
    status = document[kind_of(document).status_member]
    hints: list[str] = []
    if status == "Failed":
        texts = {host: tail.decode(errors="replace") for host, tail in tails.items()}
        hints = [*failure_hints(document.get("FailureReason", ""), texts)]
    screen.ended_there(document, hints, lambda: None)
    if as_json:
        click.echo(json_without_commands(json.dumps(document, indent=2)))
    code = EXIT_CODES.get(status, 1)
    if stopped_by is not None and status == "Stopped":
        code = SIGNALLED + stopped_by
    if report is not None:
        try:
            write_report(report, f"{json.dumps(document, indent=2)}\n")
        except SmlocalError as error:
            screen.show_error(error, debug=False)
            code = code or error.exit_code
    sys.stdout.flush()
    return code


def describe_command(service: "Service", name: str) -> str:
    """The command of the AWS CLI that shows the state of a job."""
    return f"{service.kind.cli('describe', name)}{service.cli_options}"


def _runs_on(service: "Service", name: str) -> str:
    log = f"aws logs tail {service.kind.log_group} --log-stream-name-prefix {name}/ --follow"
    return "\n".join(
        (
            f"{name} runs on.",
            f"  its state   {describe_command(service, name)}",
            f"  its log     {log}{service.cli_options}",
            f"  stop it     {service.kind.cli('stop', name)}{service.cli_options}",
        )
    )


def _with_job(error: SmlocalError, service: "Service", name: str) -> SmlocalError:
    """The same error, which must not let anybody believe that the job has ended."""
    error.remedy = (*error.remedy, *_runs_on(service, name).splitlines())
    return error
