"""Show a run: its phases with their seconds on stderr, the output of the containers on stdout."""

import os
import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from smlocal.cli.terminal.colour import BOLD, FAINT, GREEN, RED, YELLOW, paint
from smlocal.cli.terminal.columns import width_of, wrapped
from smlocal.cli.terminal.live_lines import LiveLines
from smlocal.cli.terminal.messages import Messages
from smlocal.cli.terminal.nonblocking_writer import NonblockingWriter
from smlocal.cli.terminal.printable import printable
from smlocal.cli.views.host_prefix import host_lines
from smlocal.contract.outcome.statuses import StopCause
from smlocal.engine.interface import Written
from smlocal.job.reporter import Reporter
from smlocal.planning.model import JobPlan

if TYPE_CHECKING:
    from smlocal.cli.terminal.countdown import Countdown

_NAME_WIDTH = 13
_PROGRESS_SECONDS = 10.0
_CAUSES = {
    StopCause.REQUEST: "SIGTERM sent",
    StopCause.MAX_RUNTIME: "MaxRuntimeInSeconds reached, SIGTERM sent",
    StopCause.MAX_WAIT: "MaxWaitTimeInSeconds reached, SIGTERM sent",
}


class Screen(Reporter):
    """For people, and for logs of CI jobs.

    The threads that read the output of containers may wait for the reader of smlocal's output; the supervising thread
    never waits.
    """

    def __init__(self, *, output_to: int, quiet: bool = False) -> None:
        """The containers' output goes to the file descriptor `output_to`; with `quiet` nothing else is shown."""
        self._messages = Messages(output_to=output_to, quiet=quiet)
        self._output = NonblockingWriter(output_to)
        self._output_lock = Lock()
        self._several = False
        self._terminal = os.isatty(output_to)
        self._live = LiveLines(output_to)
        self._broken = False
        self._countdown: Countdown | None = None
        self._last_progress = time.monotonic()

    @property
    def lines_shown(self) -> int | None:
        """The lines of the containers' output above the next message; None if the output goes elsewhere."""
        return self._messages.lines_shown if self._messages.shared and not self._broken else None

    def finish(self, text: str = "", before_waiting: Callable[[], None] = lambda: None) -> None:
        """Print the last message of a run; `before_waiting` is called before each wait for its reader."""
        self._end_countdown()
        self._messages.finish(text, before_waiting)

    def planned(self, plan: JobPlan) -> None:
        """Show what starts, and warn of what will fail on the service."""
        self._several = len(plan.hosts) > 1
        modes = {channel["TrainingInputMode"] for channel in _channel_modes(plan)} or {"no channels"}
        size = f"{len(plan.hosts)} × {plan.hosts[0].host.instance_type}"
        self._messages.print(
            f"{paint(plan.name, BOLD)}   {printable(plan.image)} · {size} · {', '.join(sorted(modes))}"
        )
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def progress(self, text: str) -> None:
        """Show a line about something slow, such as a pull."""
        self._messages.print(f"  {paint(printable(text), FAINT)}")

    def working(self, text: str) -> None:
        """Show the progress: one line that changes on a terminal, elsewhere a line every ten seconds."""
        text = printable(text)
        if self._messages.terminal is not None:
            self._messages.draw(f"  {text}")
        elif time.monotonic() - self._last_progress >= _PROGRESS_SECONDS:
            self._last_progress = time.monotonic()
            self._messages.print(f"  {text}")

    def phase_began(self, phase: str) -> None:
        """Show the start of training, whose output follows. Other phases are only shown at their end."""
        if phase == "Training":
            self._messages.print(f"● {phase}")

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """Show one line for each phase."""
        self._end_countdown()
        mark = paint("✔", GREEN) if good else paint("✗", RED)
        head = f"{phase:<{_NAME_WIDTH}}{seconds:6.1f} s   "
        lines = "\n".join(wrapped(printable(detail), indent=2 + len(head), width=width_of(sys.stderr)))
        self._messages.print(f"{mark} {head}{lines}".rstrip())

    def output(self, host: str, written: Written) -> None:
        """Show complete lines, with the host if there are several. A terminal shows the lines of a single host grow."""
        if self._several:
            data = host_lines(host, written.lines, terminal=self._terminal)
        elif not self._terminal:
            data = written.lines
        else:
            data = self._live.take(written.pieces) if written.pieces else self._live.rest()
        if data:
            with self._output_lock:
                self._write_output(data)

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """Show that the job is being stopped."""
        self._messages.stopping_since = time.monotonic()
        self._end_countdown()
        self._messages.after_key()
        if grace is None:
            self._messages.print("◌ Stopping       no container was running")
            return
        if self._messages.terminal is None:
            self._messages.print(f"◌ Stopping       {_CAUSES[cause]}, up to {grace:g} s to save its work")
            return
        from smlocal.cli.terminal.countdown import Countdown

        self._countdown = Countdown(self._messages, why=_CAUSES[cause], grace=grace)

    def warning(self, text: str) -> None:
        """Show a warning."""
        lines = wrapped(printable(text), indent=2, width=width_of(sys.stderr))
        self._messages.print(f"{paint('!', YELLOW)} " + "\n".join(lines))

    def _end_countdown(self) -> None:
        if self._countdown is not None:
            self._countdown.end()
            self._countdown = None

    def _write_output(self, data: bytes) -> None:
        """Write the output. A reader that is gone, or has stopped reading, does not disturb the job."""
        view = memoryview(data)
        last = time.monotonic()
        try:
            while view and not self._broken:
                count = self._messages.write_output(self._output, view)
                if count:
                    view, last = view[count:], time.monotonic()
                elif self._messages.reader_is_gone(last):
                    self._broken = True
                    self.warning("the output is not being read: the rest is only in the log")
                else:
                    self._output.wait(0.2)
        except BrokenPipeError:
            self._broken = True
        except OSError as error:
            self._broken = True
            self.warning(f"the output cannot be written ({error.strerror}): the rest of it is in the log only")


def _channel_modes(plan: JobPlan) -> list[dict[str, str]]:
    specification = plan.request.get("AlgorithmSpecification") or {}
    default = specification.get("TrainingInputMode") or "File"
    return [
        {"TrainingInputMode": channel.get("InputMode") or default}
        for channel in plan.request.get("InputDataConfig") or ()
    ]
