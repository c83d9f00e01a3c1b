"""Runs a validated job for a Python call: to its end in a thread, while this one prints, or in the background."""

import sys
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Semaphore
from typing import TYPE_CHECKING, TypeVar

from smlocal.api.execution import execute, execute_in_background
from smlocal.api.keywords import RUN_SWITCHES, check_keywords
from smlocal.api.overrides import KEYWORD_ARGUMENTS, Overrides
from smlocal.api.recorded_job import read_recorded
from smlocal.engine.interface import Written
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.kinds import showing
from smlocal.jobs.planning.model import JobPlan, RecordedPlan
from smlocal.jobs.view import Reporter
from smlocal.terms.statuses import StopCause

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob

Outcome = TypeVar("Outcome")
_LOOK_SECONDS = 1.0
"""The end wakes the caller at once. This is for an exception just before the caller begins to wait again."""
_AHEAD = 64
"""Pieces of output that may wait to be printed."""
_SECONDS_BETWEEN = 10.0
_UNREAD_SECONDS = 2.0


def run_job(asked: "AskedJob", name: str, *, detach: bool, replace: bool, show: bool, strict: bool) -> None:
    """Run it as `smlocal.run` says."""
    if detach:
        reporter = _reporter(None)
        execute_in_background(asked, name=name, strict=strict, replace=replace, reporter=reporter)
        return
    messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
    requests = StopRequests()
    execute(
        asked,
        name=name,
        strict=strict,
        replace=replace,
        reporter=_reporter(messages if show else None),
        requests=requests,
        where=lambda supervise: run_in_thread(supervise, requests, messages),
    )


def rerun_job(recorded: str, overrides: Overrides, *, detach: bool, replace: bool, show: bool, strict: bool) -> str:
    """Run the recorded request again, with these keywords; returns the new job's name."""
    check_keywords(overrides, others=RUN_SWITCHES)
    asked, name = read_recorded(recorded, overrides, strict=strict, changed_by=KEYWORD_ARGUMENTS)
    run_job(asked, name, detach=detach, replace=replace, show=show, strict=strict)
    return name


def _reporter(messages: SimpleQueue[Callable[[], None] | None] | None) -> Reporter:
    if messages is None:
        return Reporter()

    return Printed(messages)


def run_in_thread(
    work: Callable[[], Outcome],
    requests: StopRequests,
    messages: SimpleQueue[Callable[[], None] | None],
) -> Outcome:
    """Return what `work` returns. Meanwhile this thread calls the messages.

    Python raises KeyboardInterrupt in the main thread, wherever that is. Here it stops the job, the second one kills
    it, and it goes on to the caller once the job has ended. So does any other exception of a signal handler.
    """
    outcomes: list[Outcome] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            outcomes.append(work())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            errors.append(error)
        finally:
            ended.set()
            messages.put(None)

    interrupts: list[BaseException] = []
    thread = threading.Thread(target=run, name="smlocal", daemon=threading.current_thread().daemon)
    try:
        thread.start()
        _wait_for_end(ended, interrupts, requests, messages)
    except BaseException as error:  # noqa: BLE001 - it came between two lines of `_wait_for_end`
        interrupts.append(error)
        if thread.is_alive():
            _wait_for_end(ended, interrupts, requests, messages)
    if interrupts:
        raise interrupts[0]
    if errors:
        raise errors[0]
    return outcomes[0]


def _wait_for_end(
    ended: threading.Event,
    interrupts: list[BaseException],
    requests: StopRequests,
    messages: SimpleQueue[Callable[[], None] | None],
) -> None:
    """Wait for the end. Each exception is a request to stop."""
    asked = 0
    while True:
        # Python raises between any two instructions, so everything is inside the `try`, the condition too.
        try:
            while not (ended.is_set() and messages.empty()):
                while asked < len(interrupts):
                    asked += 1
                    requests.stop()
                _serve(messages)
            return  # noqa: TRY300 - in an `else` it would not be covered
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            interrupts.append(error)


def _serve(messages: SimpleQueue[Callable[[], None] | None]) -> None:
    try:
        message = messages.get(timeout=_LOOK_SECONDS)
    except Empty:
        return
    if message is not None:
        message()


class Printed(Reporter):
    """The calling thread prints, so that nothing of a job waits for a reader."""

    def __init__(self, messages: SimpleQueue[Callable[[], None] | None]) -> None:
        """`messages` gets functions that print."""
        self._messages = messages
        self._room = Semaphore(_AHEAD)
        self._several = False
        self._line_open = False
        self._stopping: float | None = None
        self._last = time.monotonic()
        self._words: Mapping[str, str] = {}
        """The platform's words for phases."""

    def planned(self, plan: RecordedPlan) -> None:
        """The job exists from now on."""
        self._several = len(plan.host_names) > 1
        start = showing(plan.platform).start(plan)
        self._words = start.phases
        if isinstance(plan, JobPlan):
            self._say(f"{plan.name}: {plan.image.name} on {len(plan.hosts)} × {plan.hosts[0].host.instance_type}")
        else:
            self._say(f"{plan.name}: {start.about}")
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def progress(self, text: str) -> None:
        """A line about something slow."""
        self._say(text)

    def working(self, text: str) -> None:
        """A line every ten seconds."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN:
            self._last = time.monotonic()
            self._say(text)

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """One line a phase."""
        self._say(f"{self._words.get(phase, phase)} {'' if good else 'failed, '}{seconds:.1f} s  {detail}".rstrip())

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """The stop has begun."""
        self._stopping = time.monotonic()
        self._say("Stopping" if grace is None else f"Stopping ({cause}): up to {grace:g} s to save work")

    def replica_changed(self, replica: str | None, happened: str, follows: str, exit_code: int | None) -> None:  # noqa: ARG002 - `happened` says it
        """The decision after the end of a replica while the job goes on."""
        if follows:
            self._say(f"{f'{replica}: ' if replica else ''}{happened}, {follows}")

    def warning(self, text: str) -> None:
        """A line that stands out."""
        self._say(f"Warning: {text}")

    def output(self, host: str, written: Written) -> None:
        """Whole lines. The thread that reads the container waits until they are printed; after a stop not for long."""
        if not written.lines:
            return
        text = written.lines.decode(errors="replace")
        if self._several:
            text = "".join(f"{host} | {line}" for line in text.splitlines(keepends=True))
        began = time.monotonic()
        while not self._room.acquire(timeout=0.2):
            since = self._stopping
            if since is not None and time.monotonic() - max(since, began) > _UNREAD_SECONDS:
                return
        self._messages.put(lambda: self._print_output(text))

    def _print_output(self, text: str) -> None:
        self._room.release()
        self._print(text)

    def _print(self, text: str) -> None:
        """Print a text that begins a new line, even if the last line of a container has no newline."""
        sys.stdout.write(f"\n{text}" if self._line_open else text)
        sys.stdout.flush()
        self._line_open = not text.endswith("\n")

    def _say(self, line: str) -> None:
        self._messages.put(lambda: self._print(f"{line}\n"))
