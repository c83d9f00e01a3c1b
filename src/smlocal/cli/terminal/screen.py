"""Show a run: its phases with their seconds on stderr, the output of the containers on stdout."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.cli.terminal.bottom_line import LiveLines, columns_of_terminal
from smlocal.cli.terminal.layout import (
    BOLD,
    FAINT,
    GREEN,
    LEAST,
    RED,
    YELLOW,
    colour_conflict,
    has_colours,
    paint,
    row,
    shortened,
    width_of,
    wrapped,
)
from smlocal.cli.terminal.links import with_file_links
from smlocal.cli.terminal.messages import (
    PLAIN_SECONDS,
    Countdown,
    Messages,
    NonblockingWriter,
    ProgressMode,
    RunningLine,
    training_text,
)
from smlocal.cli.terminal.printable import Changes, own_lines, printable
from smlocal.engine.interface import Written
from smlocal.errors import SmlocalError
from smlocal.jobs.kinds import showing
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.jobs.view import JobView, Reporter, StartView
from smlocal.terms.statuses import JobStatus, StopCause

if TYPE_CHECKING:
    from smlocal.cli.terminal.errors import show_error
    from smlocal.cli.views import summary
    from smlocal.cli.views.log_lines import host_prefix, prefixed_lines, stamp
else:
    summary = at_use("smlocal.cli.views.summary")
    host_prefix = at_use("smlocal.cli.views.log_lines", "host_prefix")
    prefixed_lines = at_use("smlocal.cli.views.log_lines", "prefixed_lines")
    stamp = at_use("smlocal.cli.views.log_lines", "stamp")
    show_error = at_use("smlocal.cli.terminal.errors", "show_error")

_NAME_WIDTH = 13
_LONGEST_STEP = 32
_STEP_MARKS = {"Succeeded": ("✔", GREEN), "Stopped": ("◌", YELLOW)}
_WITH_OUTPUT = {"Training", "Processing"}
_LINES = -1
"""The stream of the complete lines of both streams."""


class Screen(Reporter):
    """For people, and for logs of CI jobs.

    The threads that read the output of containers may wait for the reader of smlocal's output; the supervising thread
    never waits.
    """

    def __init__(
        self,
        *,
        output_to: int,
        mode: ProgressMode,
        timestamps: bool = False,
        log_prefix: bool = True,
        changes: "Changes | None" = None,
    ) -> None:
        """The containers' output goes to the file descriptor `output_to`, with these `changes`.

        Its lines get the time with `timestamps`, and with `log_prefix` their host if there are several.
        """
        live, quiet = mode is ProgressMode.TTY, mode is ProgressMode.QUIET
        self._messages = Messages(output_to=output_to, quiet=quiet, live=live)
        self._output_to = output_to
        self._output = NonblockingWriter(output_to)
        self._output_lock = Lock()
        self._timestamps = timestamps
        self._log_prefix = log_prefix
        self._changes = changes
        self._heads: dict[str, bytes] = {}
        """What is in front of the lines of each host, if there are several."""
        self._terminal = os.isatty(output_to) or (live and self._messages.shared)
        self._live = LiveLines(output_to)
        self._broken = False
        self._running: RunningLine | None = None
        self._beside = ""
        """The progress that the line of the running phase ends with."""
        self._countdown: Countdown | None = None
        self._last_progress = time.monotonic()
        self._said: set[str] = set()
        """The warnings."""
        self._start: StartView | None = None
        """The job in its platform's words, once it is planned."""
        if conflict := colour_conflict():
            self.warning(conflict)

    @property
    def lines_shown(self) -> int | None:
        """The lines of the containers' output above the next message; None if the output goes elsewhere."""
        return self._messages.lines_shown if self._messages.shared and not self._broken else None

    def pause(self) -> None:
        """Let something else write to the terminal for a moment."""
        self._end_running()
        self._messages.after_key()

    def finish(self, text: str = "", before_waiting: Callable[[], None] = lambda: None) -> None:
        """Print the last message of a run; `before_waiting` is called before each wait for its reader."""
        self._end_running()
        self._messages.finish(text, before_waiting)

    def ended(self, view: JobView, group_end: str, before_waiting: Callable[[], None]) -> None:
        """Print how the job ended, after the line that ends the group in the log of a CI service, if there is one."""
        lines = [group_end] if group_end else []
        if self._messages.quiet:
            if view.status is JobStatus.FAILED:
                lines.append(own_lines(summary.failure(view.state, view.reason)))
                if view.log_of != "" and view.local["Explanation"]:  # the reason is that of a search or an execution
                    lines.append(own_lines(summary.item("because", view.local["Explanation"])))
        else:
            # CI services fold groups of their logs.
            shown, said = (None, set[str]()) if group_end else (self.lines_shown, self._said)
            text = own_lines(summary.summary(view, lines_shown=shown, said=said, by_hand=self.verbose))
            lines.append(with_file_links(text, summary.shown_files(view), sys.stderr))
        self.finish("\n".join(lines), before_waiting)

    def ended_there(self, answer: Mapping[str, Any], hints: Sequence[str], before_waiting: Callable[[], None]) -> None:
        """Print how a job of the service ended."""
        if not self._messages.quiet:
            text = summary.service_summary(answer, hints)
        else:
            failed = summary.status_there(answer) == "Failed"
            text = summary.failure("Failed", answer.get("FailureReason", "")) if failed else ""
        self.finish(own_lines(text), before_waiting)

    def show_error(self, error: "SmlocalError", *, debug: bool) -> None:
        """Show an error that came after the end of the job."""
        show_error(error, debug=debug, as_json=False)

    def import_the_rest(self) -> None:
        """The summary at the end."""
        if not self._messages.quiet:
            import_module("smlocal.cli.views.summary")

    def planned(self, plan: RecordedPlan) -> None:
        """Show what starts, and warn of what will fail on the service."""
        self._start = start = showing(plan.platform).start(plan)
        self.headline(plan.name, printable(start.about), hosts=[*plan.host_names])
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def headline(self, name: str, about: str, *, hosts: Sequence[str], member: str = "TrainingJobName") -> None:  # noqa: ARG002 - for events
        """Show the first line of a job; the lines of its hosts follow. `member`: what its name is called."""
        self._prepare_heads(hosts)
        first, *more = row(f"{name}   ", about, width=width_of(sys.stderr))
        self._messages.print("\n".join([f"{paint(name, BOLD)}{first[len(name) :]}", *more]))

    def progress(self, text: str) -> None:
        """Show a line about something slow, such as a pull."""
        self._messages.print(f"  {paint(printable(text), FAINT)}")

    def working(self, text: str) -> None:
        """Show the progress: one line that changes on a terminal, elsewhere a line every ten seconds."""
        text = printable(text)
        if self._messages.live and self._running is not None and self._countdown is None:
            self._beside = f"   {text}"  # in the line of the phase: two would replace each other
            self._running.show()
        elif self._messages.live:
            self._messages.show_status(f"  {text}")
        elif time.monotonic() - self._last_progress >= PLAIN_SECONDS:
            self._last_progress = time.monotonic()
            self._messages.print(f"  {text}")

    def phase_began(self, phase: str) -> None:
        """Show the start of the program, whose output follows. Other phases are only shown at their end."""
        if phase in _WITH_OUTPUT:
            word = self._word(phase)
            self._messages.print(f"● {word}")
            text, self._beside = training_text(word, time.monotonic()), ""
            self._running = RunningLine(self._messages, lambda columns: self._with_working(text(columns), columns))

    def _with_working(self, text: str, columns: int) -> str:
        """The line of a phase, with its progress as far as there is room; without a terminal there are 0 columns."""
        return shortened(f"{text}{self._beside}", columns - 1) if columns else text

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """Show one line for each phase."""
        self._end_running()
        mark = paint("✔", GREEN) if good else paint("✗", RED)
        head = f"{self._word(phase):<{self._name_width}}{seconds:6.1f} s   "
        text = printable(detail)
        first, *more = row(f"  {head}", text, width=width_of(sys.stderr), least=min(LEAST, len(text)))
        self._messages.print("\n".join([f"{mark} {first[2:]}", *more]))

    def output(self, host: str, written: Written) -> None:
        """Show complete lines, with the host if there are several. A terminal shows the lines of a single host grow."""
        if self._changes:
            lines = self._changes.apply(host, _LINES, written.lines)
            pieces = [(stream, self._changes.apply(host, stream, data)) for stream, data in written.pieces]
            written = Written(lines, pieces)
        if self._heads or self._timestamps:
            data = prefixed_lines(self._head(host), written.lines, terminal=self._terminal)
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
        self._end_running()
        self._messages.after_key()
        if grace is None:
            self._messages.print("◌ Stopping       no container was running")
            return
        why = "SIGTERM sent" if self._start is None else self._start.causes[cause]
        if not self._messages.live:
            self._messages.print(f"◌ Stopping       {why}, up to {grace:g} s to save work")
        self._countdown = Countdown(why=why, grace=grace)
        self._running = RunningLine(self._messages, self._countdown)
        self._running.show()

    def replica_changed(self, replica: str | None, happened: str, follows: str, exit_code: int | None) -> None:  # noqa: ARG002 - `happened` says it
        """Show what follows from the end of a replica while the job goes on."""
        if follows:
            self.progress(f"{f'{replica}: ' if replica else ''}{happened}, {follows}")

    def step_changed(self, step: str, status: str, seconds: float | None, detail: str) -> None:
        """Show a line when a step of a pipeline begins, and one when it has ended."""
        mark = "●" if seconds is None else paint(*_STEP_MARKS.get(status, ("✗", RED)))
        longest = 0 if self._start is None else self._start.longest_step
        took = "" if seconds is None else f"{seconds:.1f} s"
        head = f"{printable(step):<{min(longest, _LONGEST_STEP)}}{took:>9}   "
        text = printable(detail)
        first, *more = row(f"    {head}", text, width=width_of(sys.stderr), least=min(LEAST, len(text)))
        self._messages.print("\n".join([f"  {mark} {first[4:]}".rstrip(), *more]))

    def rule_changed(self, rule: str, status: str, detail: str, *, good: bool) -> None:
        """Show what a debugger rule has come to."""
        text = f"{rule}: {status}{f', {detail}' if detail else ''}"
        if good:
            self.progress(text)
        else:
            Screen.warning(self, text)

    def warning(self, text: str) -> None:
        """Show a warning. The end of the job does not repeat it."""
        self._said.add(text)
        lines = wrapped(printable(text), indent=2, width=width_of(sys.stderr))
        self._messages.print(f"{paint('!', YELLOW)} " + "\n".join(lines))

    def _word(self, phase: str) -> str:
        return phase if self._start is None else self._start.phases.get(phase, phase)

    @property
    def _name_width(self) -> int:
        words = () if self._start is None else self._start.phases.values()
        return max(_NAME_WIDTH, *(len(word) + 2 for word in words), 0)

    def _prepare_heads(self, hosts: Sequence[str]) -> None:
        if len(hosts) > 1:
            coloured = self._log_prefix and has_colours(sys.stdout if self._output_to == 1 else sys.stderr)
            for name in hosts:
                self._heads[name] = host_prefix(name, coloured=coloured) if self._log_prefix else b""

    def _head(self, host: str) -> bytes:
        head = self._heads.get(host, b"")
        if not self._timestamps:
            return head

        return stamp(time.time()) + head

    def _end_running(self) -> None:
        if self._running is None:
            return
        self._running.end()
        self._running = None
        if self._countdown is not None and self._messages.live:
            self._messages.print(self._countdown(columns_of_terminal(2)))  # its last state stays
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
