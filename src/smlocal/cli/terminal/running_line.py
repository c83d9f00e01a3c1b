"""A line about something that takes long: renewed each second on a terminal, elsewhere printed every ten seconds."""

import math
import time
from collections.abc import Callable
from threading import Event, Thread

from smlocal.cli.terminal.bottom_line import columns_of_terminal
from smlocal.cli.terminal.messages import Messages

_SECOND = 1.0
PLAIN_SECONDS = 10.0
_MINUTE, _HOUR = 60, 3600


class RunningLine:
    """Starts when it is created, and ends with `end`. Other output is not disturbed."""

    def __init__(self, messages: Messages, text: Callable[[int], str]) -> None:
        """`text` gets the columns of the terminal, 0 if there is none."""
        self._messages = messages
        self._text = text
        self._over = Event()
        self._thread = Thread(target=self._run, name="running-line", daemon=True)
        self._thread.start()

    def show(self) -> None:
        """Show the line at once, on a terminal."""
        if self._messages.live:
            self._messages.show_status(self._text(columns_of_terminal(2)), lasting=True)

    def end(self) -> None:
        """Remove the line."""
        self._over.set()
        self._thread.join(_SECOND)
        if self._messages.live:
            self._messages.show_status("")

    def _run(self) -> None:
        while not self._over.wait(_SECOND):
            if self._messages.live:
                self.show()
            elif time.monotonic() - self._messages.last_print >= PLAIN_SECONDS:
                # What prints its own lines shows that it is running.
                self._messages.print(self._text(0))


def training_text(word: str, began: float) -> Callable[[int], str]:
    """`● Training       41 s`; `began` on the monotonic clock."""
    return lambda _: f"● {word}       {duration(time.monotonic() - began)}"


class Countdown:
    """The seconds that a stopping job has left."""

    def __init__(self, *, why: str, grace: float) -> None:
        """The time begins now."""
        self._why = why
        self._grace = grace
        self._until = time.monotonic() + grace

    def __call__(self, columns: int) -> str:
        """The text that fits; without a terminal a short one."""
        left = f"   {max(0, math.ceil(self._until - time.monotonic()))} s"
        if not columns:
            return f"◌ Stopping    {left} left"
        for text in (
            f"◌ Stopping       {self._why}, up to {self._grace:g} s to save its work (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why} (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why}",
            "◌ Stopping",
        ):
            if len(text) + len(left) < columns:
                return text + left
        return f"◌{left[2:]}"


def duration(seconds: float) -> str:
    """`41 s`, `12 min 5 s`, `1 h 12 min`."""
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
