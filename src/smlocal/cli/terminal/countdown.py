"""The seconds that a stopping job has left, updated each second on the terminal."""

import math
import os
import time
from threading import Event, Thread

from smlocal.cli.terminal.messages import Messages

_SECOND = 1.0


class Countdown:
    """Starts when it is created, and ends with `end`. Other output is not disturbed."""

    def __init__(self, messages: Messages, *, why: str, grace: float) -> None:
        self._messages = messages
        self._why = why
        self._grace = grace
        self._until = time.monotonic() + grace
        self._over = Event()
        self._thread = Thread(target=self._run, name="countdown", daemon=True)
        messages.draw(self._line(), lasting=True)
        self._thread.start()

    def end(self) -> None:
        """Stop updating."""
        self._over.set()
        self._thread.join(_SECOND)

    def _run(self) -> None:
        while not self._over.wait(_SECOND):
            self._messages.draw(self._line(), lasting=True)

    def _line(self) -> str:
        left = f"   {max(0, math.ceil(self._until - time.monotonic()))} s"
        room = self._columns() - len(left) - 1
        for text in (
            f"◌ Stopping       {self._why}, up to {self._grace:g} s to save its work (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why} (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why}",
        ):
            if len(text) <= room:
                return text + left
        return f"◌ Stopping{left}"

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._messages.terminal or 0).columns or 80
        except OSError:
            return 80
