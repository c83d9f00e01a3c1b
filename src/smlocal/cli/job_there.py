"""A job on the service: the question before it, its creation, and following it until it ends or is stopped."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.terminal.printable import json_without_commands
from smlocal.engine.interface import Written
from smlocal.errors import RegionMissingError, ServiceUnreachableError, SmlocalError
from smlocal.errors.of_commands import SubmitNotConfirmedError
from smlocal.jobs.finish.report_path import write_report
from smlocal.service import submission
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen

NOT_CONFIRMED = 2
"""The exit code if the answer was no."""
_EXIT_CODES: Final = {"Completed": 0, "Succeeded": 0, "CompletedWithFailures": 0, "Failed": 1, "Stopped": 4}
_SIGNALLED: Final = 128
_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobThere:
    """A job on the service, perhaps not made yet."""

    name: str
    make: Callable[[], None]
    """Create it."""
    follow: Callable[[Callable[[], bool]], dict[str, Any] | None]
    """Show it until it ends or somebody interrupts; returns the last answer of describe, or None."""
    stop: Callable[[], None]
    stopping: str
    """The state of its program after that."""
    status_member: str
    described_by: str
    """The command of the AWS CLI that shows its state."""
    runs_on: Sequence[str]
    """What to do with it once this command has ended."""
    hints: Callable[[Mapping[str, Any]], list[str]] = lambda _: []
    """On why it failed, from the last answer."""


class _StopSignals:
    """The stop signals since the last look. During a question, a signal ends the question."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._second_ends = False

    def __call__(self) -> bool:
        """True after a signal."""
        return self.number is not None

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Within this block a signal only sets `number`."""

        def handle(number: int, frame: FrameType | None) -> None:
            del frame
            if self._second_ends and self.number is not None:
                raise SystemExit(_SIGNALLED + number)
            self.number = number

        handled = [each for each in _STOP_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
        before = {each: signal.signal(each, handle) for each in handled}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    @contextmanager
    def second_ends(self) -> Iterator[None]:
        """Within this block a second signal ends the command."""
        self._second_ends = True
        try:
            yield
        finally:
            self._second_ends = False


def run_there(
    job: JobThere, screen: "Screen", *, ask: bool, wait: bool, as_json: bool, report: str | None
) -> int | None:
    """Make the job and show it until it ends; returns the exit code of the command. None: nobody waits for it.

    A signal stops the job, also while the job is being made. Ctrl-C asks first if `ask`. A second signal leaves the job
    alone.
    """
    made, stopped_by = False, None
    while True:
        signals = _StopSignals()
        try:
            with signals.noticed():
                if not made:
                    _make(job, screen, signals)
                    made = True
                    if not wait and not signals():
                        return None
                answer = job.follow(signals)
        except SmlocalError as error:
            screen.finish()
            if made:  # nobody must believe that the job has ended
                error.remedy = (*error.remedy, *job.runs_on)
            raise
        if answer is not None:
            return _ended(answer, job, screen, as_json=as_json, report=report, stopped_by=stopped_by)
        number = signals.number or signal.SIGINT
        if stopped_by is not None or not _may_stop(job.name, screen, number, ask=ask):
            screen.finish()
            click.echo("\n".join(job.runs_on), err=True)
            return _SIGNALLED + number
        try:
            job.stop()
        except SmlocalError as error:
            screen.finish()
            error.remedy = (*error.remedy, *job.runs_on)
            raise
        stopped_by = number
        screen.progress(f"◌ Stopping: {job.stopping} (Ctrl-C again to leave it)")


def _make(job: JobThere, screen: "Screen", signals: _StopSignals) -> None:
    try:
        with signals.second_ends():
            job.make()
    except (SystemExit, ServiceUnreachableError):
        screen.warning(f"whether the job was made is not known. Look:  {job.described_by}")
        raise


def _may_stop(name: str, screen: "Screen", number: int, *, ask: bool) -> bool:
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
    answer: Mapping[str, Any],
    job: JobThere,
    screen: "Screen",
    *,
    as_json: bool,
    report: str | None,
    stopped_by: int | None,
) -> int:
    document = submission.answer_document(answer)
    status = document[job.status_member]
    screen.ended_there(document, job.hints(document) if status == "Failed" else [], lambda: None)
    if as_json:
        click.echo(json_without_commands(json.dumps(document, indent=2)))
    code = _EXIT_CODES.get(status, 1)
    if stopped_by is not None and status == "Stopped":
        code = _SIGNALLED + stopped_by
    if report is not None:
        try:
            write_report(report, f"{json.dumps(document, indent=2)}\n")
        except SmlocalError as error:
            screen.show_error(error, debug=False)
            code = code or error.exit_code
    sys.stdout.flush()
    return code


class ServiceView:
    """Shows what `service.following` tells."""

    def __init__(self, screen: "Screen") -> None:
        """`screen`: of the command."""
        self._screen = screen
        self.phase_began, self.phase_ended = screen.phase_began, screen.phase_ended
        self.progress, self.working, self.warning = screen.progress, screen.working, screen.warning

    def lines(self, host: str, data: bytes) -> None:
        """As lines of a container."""
        self._screen.output(host, Written(data, [(1, data)]))


def confirmed(
    lines: Sequence[str], given: dict[str, Any], service: "Service", screen: "Screen", *, nothing: str
) -> bool:
    """Show these lines, and ask. `nothing`: what was done if the answer is no."""
    if given["yes"]:
        for line in lines:
            screen.progress(line)
        return True
    screen.finish()
    if not (os.isatty(0) and os.isatty(2)):
        raise SubmitNotConfirmedError(
            "nobody can be asked whether this job may start: there is no terminal",
            details=tuple(lines),
            remedy=("Say yes with --yes, or look at it with --dry-run.",),
        )
    for line in lines:
        click.echo(f"  {line}", err=True)
    try:
        if click.confirm(f"Start it in {service.region}?", default=False, err=True):
            return True
    except click.Abort:
        click.echo(f"\n{nothing}", err=True)
        raise
    click.echo(nothing, err=True)
    return False


def region_if_known(service: "Service") -> str | None:
    """The region of the service; None if none is configured."""
    try:
        return service.region
    except RegionMissingError:
        return None
