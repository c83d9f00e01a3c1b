"""Show unfinished lines of two streams on a terminal, such as a progress bar and what is printed meanwhile."""

import os
from collections.abc import Iterable

_MOST_KEPT = 4096
"""Bytes of an unfinished line that are shown again after a line of the other stream."""
_CLEAR_LINE = b"\r\033[K"


class LiveLines:
    """Shows unfinished lines at once. A line of the other stream replaces them, and they are shown again below it.

    The output of a single stream is not changed.
    """

    def __init__(self, terminal: int) -> None:
        """Show lines on the terminal with this file descriptor."""
        self._terminal = terminal
        self._unfinished: dict[int, bytes] = {}
        """The visible part of each stream's unfinished line."""
        self._shown: int | None = None
        """The stream whose unfinished line the cursor is on."""

    def take(self, pieces: Iterable[tuple[int, bytes]]) -> bytes:
        """Return what to write for pieces of output: the number of the stream and the bytes."""
        return b"".join(part for stream, data in pieces for part in self._parts(stream, data))

    def rest(self) -> bytes:
        """Return the unfinished lines that are not shown, at the end of the output."""
        hidden = [line for stream, line in self._unfinished.items() if stream != self._shown]
        self._unfinished, self._shown = {}, None
        return b"".join(b"\n" + line for line in hidden)

    def _parts(self, stream: int, data: bytes) -> Iterable[bytes]:
        begun = self._unfinished.pop(stream, b"")
        if self._shown is not None and self._shown != stream:
            yield self._make_room(self._unfinished[self._shown])
            yield begun
        yield data
        end = data.rfind(b"\n") + 1
        self._shown = stream
        if line := visible_part(data[end:] if end else begun + data):
            self._unfinished[stream] = line
        else:
            self._shown = next(iter(self._unfinished), None)
            if self._shown is not None:
                yield self._unfinished[self._shown]

    def _make_room(self, line: bytes) -> bytes:
        """Delete the line if it certainly fits into one row; otherwise the next line begins below it."""
        if b"\t" in line or os.environ.get("TERM") == "dumb":
            return b"\n"
        try:
            columns = os.get_terminal_size(self._terminal).columns
        except OSError:
            return b"\n"
        return _CLEAR_LINE if len(line) < columns else b"\n"


def visible_part(line: bytes) -> bytes:
    """The part of a line that no carriage return has overwritten."""
    text = line.rstrip(b"\r")
    return (text.rpartition(b"\r")[2] + line[len(text) :])[-_MOST_KEPT:]
