"""A run as a person sees it: phases with their seconds on stderr, what containers write on stdout."""

import os
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from smlocal.cli.terminal.colour import BOLD, FAINT, GREEN, RED, YELLOW, paint
from smlocal.cli.terminal.live_lines import LiveLines
from smlocal.cli.terminal.messages import Talk
from smlocal.cli.terminal.output import Sink
from smlocal.cli.terminal.printable import printable
from smlocal.cli.views.host_prefix import host_lines
from smlocal.contract.outcome.statuses import StopCause
from smlocal.engine.interface import Written
from smlocal.job.reporter import Reporter
from smlocal.planning.model import JobPlan

if TYPE_CHECKING:
    from smlocal.cli.terminal.countdown import Countdown

_NAME_WIDTH = 13
_SECONDS_BETWEEN_LINES = 10.0
_CAUSES = {
    StopCause.REQUEST: "SIGTERM sent",
    StopCause.MAX_RUNTIME: "MaxRuntimeInSeconds reached, SIGTERM sent",
    StopCause.MAX_WAIT: "MaxWaitTimeInSeconds reached, SIGTERM sent",
}


class Screen(Reporter):
    """For people and for logs of CI jobs.

    Only the threads that read containers ever wait for whoever reads our output; the supervising thread does not.
    """

    def __init__(self, *, output_to: int, quiet: bool = False) -> None:
        """Containers' output goes to the file descriptor `output_to`; `quiet` leaves only that."""
        self._talk = Talk(output_to=output_to, quiet=quiet)
        self._output = Sink(output_to)
        self._output_lock = Lock()
        self._several = False
        self._terminal = os.isatty(output_to)
        self._live = LiveLines(output_to)
        self._broken = False
        self._countdown: Countdown | None = None
        self._last_word = time.monotonic()

    @property
    def lines_shown(self) -> int | None:
        """How much of the containers' output stands above whatever is said next; None where it went elsewhere."""
        return self._talk.lines_shown if self._talk.shared and not self._broken else None

    def finish(self, text: str = "", before_waiting: Callable[[], None] = lambda: None) -> None:
        """The last words of a run; `before_waiting` is called when somebody has to be waited for."""
        self._end_countdown()
        self._talk.finish(text, before_waiting)

    def planned(self, plan: JobPlan) -> None:
        """Say what starts, and warn of what will go wrong on the service."""
        self._several = len(plan.hosts) > 1
        modes = {channel["TrainingInputMode"] for channel in _channel_modes(plan)} or {"no channels"}
        size = f"{len(plan.hosts)} × {plan.hosts[0].host.instance_type}"
        self._talk.say(f"{paint(plan.name, BOLD)}   {printable(plan.image)} · {size} · {', '.join(sorted(modes))}")
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def progress(self, text: str) -> None:
        """A line of something slow, such as a pull."""
        self._talk.say(f"  {paint(printable(text), FAINT)}")

    def working(self, text: str) -> None:
        """One line that changes on a terminal, elsewhere one every ten seconds."""
        text = printable(text)
        if self._talk.terminal is not None:
            self._talk.draw(f"  {text}")
        elif time.monotonic() - self._last_word >= _SECONDS_BETWEEN_LINES:
            self._last_word = time.monotonic()
            self._talk.say(f"  {text}")

    def phase_began(self, phase: str) -> None:
        """Only training shows that it has begun: what follows is its output."""
        if phase == "Training":
            self._talk.say(f"● {phase}")

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """One line a phase."""
        self._end_countdown()
        mark = paint("✔", GREEN) if good else paint("✗", RED)
        self._talk.say(f"{mark} {phase:<{_NAME_WIDTH}}{seconds:6.1f} s   {printable(detail)}".rstrip())

    def output(self, host: str, written: Written) -> None:
        """Whole lines, with the host's name in front for several; a terminal shows the line of a single host grow."""
        if self._several:
            data = host_lines(host, written.lines, terminal=self._terminal)
        elif not self._terminal:
            data = written.lines
        else:
            data = self._live.take(written.pieces) if written.pieces else self._live.rest()
        if data:
            with self._output_lock:
                self._pass_on(data)

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """The stop has begun."""
        self._talk.hurried = time.monotonic()
        self._end_countdown()
        self._talk.after_key()
        if grace is None:
            self._talk.say("◌ Stopping       no container was running")
            return
        if self._talk.terminal is None:
            self._talk.say(f"◌ Stopping       {_CAUSES[cause]}, up to {grace:g} s to save its work")
            return
        from smlocal.cli.terminal.countdown import Countdown

        self._countdown = Countdown(self._talk, why=_CAUSES[cause], grace=grace)

    def warning(self, text: str) -> None:
        """A line that stands out."""
        self._talk.say(f"{paint('!', YELLOW)} {printable(text)}")

    def _end_countdown(self) -> None:
        if self._countdown is not None:
            self._countdown.end()
            self._countdown = None

    def _pass_on(self, data: bytes) -> None:
        """Hand bytes on at once; a reader who has gone away, or reads no more, does not disturb the job."""
        view = memoryview(data)
        last = time.monotonic()
        try:
            while view and not self._broken:
                went = self._talk.pass_on(self._output, view)
                if went:
                    view, last = view[went:], time.monotonic()
                elif self._talk.given_up(last):
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
