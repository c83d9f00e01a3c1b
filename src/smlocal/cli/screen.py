"""A run as a person sees it: phases with their seconds on stderr, what containers write on stdout."""

import os
import sys
from threading import Lock

from smlocal.cli.colour import BOLD, FAINT, GREEN, RED, YELLOW, paint
from smlocal.contract.statuses import StopCause
from smlocal.plan.model import JobPlan

_NAME_WIDTH = 13
_CAUSES = {
    StopCause.REQUEST: "SIGTERM sent",
    StopCause.MAX_RUNTIME: "MaxRuntimeInSeconds is over, SIGTERM sent",
    StopCause.MAX_WAIT: "MaxWaitTimeInSeconds is over, SIGTERM sent",
}


class Screen:
    """Implements `job.reporter.Reporter` for people and for logs of CI jobs."""

    def __init__(self, *, output_to: int, quiet: bool = False) -> None:
        """Containers' output goes to the file descriptor `output_to`; `quiet` leaves only that."""
        self._output_to = output_to
        self._quiet = quiet
        self._lock = Lock()
        self._several = False
        self._partial: dict[str, bytes] = {}
        self._line_open = False
        self._broken = False

    def planned(self, plan: JobPlan) -> None:
        """Say what starts, and warn of what will go wrong on the service."""
        self._several = len(plan.hosts) > 1
        modes = {channel["TrainingInputMode"] for channel in _channel_modes(plan)} or {"no channels"}
        size = f"{len(plan.hosts)} × {plan.hosts[0].host.instance_type}"
        self._say(f"{paint(plan.name, BOLD)}   {plan.image} · {size} · {', '.join(sorted(modes))}")
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def progress(self, text: str) -> None:
        """A line of something slow, such as a pull."""
        self._say(f"  {paint(text, FAINT)}")

    def entered(self, phase: str) -> None:
        """Only training shows that it has begun: what follows is its output."""
        if phase == "Training":
            self._say(f"● {phase}")

    def left(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """One line a phase."""
        self._flush_lines()
        mark = paint("✔", GREEN) if good else paint("✗", RED)
        self._say(f"{mark} {phase:<{_NAME_WIDTH}}{seconds:6.1f} s   {detail}".rstrip())

    def output(self, host: str, data: bytes) -> None:
        """Raw bytes for one host; whole lines with the host's name in front for several."""
        if not self._several:
            self._write(data)
            return
        with self._lock:
            whole, newline, rest = (self._partial.pop(host, b"") + data).rpartition(b"\n")
            if rest:
                self._partial[host] = rest
        if newline:
            self._write(_prefixed(host, whole))

    def stopping(self, cause: StopCause, grace: float) -> None:
        """The stop has begun."""
        hint = " (Ctrl-C again to kill now)" if sys.stderr.isatty() else ""
        self._say(f"◌ Stopping       {_CAUSES[cause]}, up to {grace:g} s to save its work{hint}")

    def warning(self, text: str) -> None:
        """A line that stands out."""
        self._say(f"{paint('!', YELLOW)} {text}")

    def _flush_lines(self) -> None:
        with self._lock:
            rest, self._partial = self._partial, {}
        for host, line in rest.items():
            self._write(_prefixed(host, line))

    def _write(self, data: bytes) -> None:
        """Hand bytes on at once; a reader who has gone away does not disturb the job."""
        with self._lock:
            if self._broken:
                return
            self._line_open = not data.endswith(b"\n")
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self._output_to, view) :]
            except OSError:
                self._broken = True

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        with self._lock:
            # A container's last line may have no end; ours starts on its own line all the same.
            start = "\n" if self._line_open else ""
            self._line_open = False
            try:
                sys.stderr.write(f"{start}{line}\n")
                sys.stderr.flush()
            except (OSError, ValueError):
                self._quiet = True


def _prefixed(host: str, lines: bytes) -> bytes:
    mark = f"{host} | ".encode()
    return mark + lines.replace(b"\n", b"\n" + mark) + b"\n"


def _channel_modes(plan: JobPlan) -> list[dict[str, str]]:
    specification = plan.request.get("AlgorithmSpecification") or {}
    default = specification.get("TrainingInputMode") or "File"
    return [
        {"TrainingInputMode": channel.get("InputMode") or default}
        for channel in plan.request.get("InputDataConfig") or ()
    ]
