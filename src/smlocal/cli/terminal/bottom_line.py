"""Lines of a terminal that change: the one at the bottom, while output appears above it, and unfinished ones of output.

The cursor is never left in the line at the bottom but at its start. If the line above it has no end yet, such as a
progress bar, the cursor stays there. After a resize, everything from the cursor on is deleted, so nothing of the old
line stays.
"""

import os
from collections.abc import Iterable
from functools import lru_cache

from smlocal.base.regex import regex
from smlocal.cli.terminal.layout import columns_of_text, shortened_to_columns

_DELETE_BELOW = b"\r\033[J"
_MAKE_ROOM = b"\033D\033[A"
"""One line down, which scrolls at the bottom, and up again. The column stays."""
_SAVE, _RESTORE = b"\0337", b"\0338"
_HARMLESS = regex(rb"\x1b\[[0-9;]*[mK]|\r$")
"""What colours text, deletes the rest of the line, or moves only within it."""
_LEAST_COLUMNS, _MOST_COLUMNS = 4, 200
_LONGEST_LINE = 4096
_MOST_KEPT = 4096
"""Bytes of an unfinished line that are shown again after a line of the other stream."""
_CLEAR_LINE = b"\r\033[K"


class BottomLine:
    """Returns what to write. The caller writes all of it, in this order."""

    def __init__(self, descriptor: int, *, live: bool) -> None:
        """Without `live` there is no such line, and nothing is to be written."""
        self._descriptor = descriptor
        self._live = live
        self.text = ""
        self._line = b""
        """The visible part of the last line of output, if it has no end yet."""
        self._shown = False
        self._below = False
        """True if it is shown below a line of output without an end."""

    def change(self, text: str) -> bytes:
        """Show another text; an empty one removes the line."""
        if not self._live or (text == self.text and self._shown):
            return b""
        hidden = self.hide()
        self.text = text
        return hidden + self.show()

    def hide(self) -> bytes:
        """Delete the line, before something is written at the cursor."""
        if not self._shown:
            return b""
        self._shown = False
        return _SAVE + b"\n" + _DELETE_BELOW + _RESTORE if self._below else _DELETE_BELOW

    def show(self) -> bytes:
        """Show it again, at the start of a line, or below a line without an end if that is short and simple."""
        columns = columns_of_terminal(self._descriptor)
        if not self.text or self._shown or columns < _LEAST_COLUMNS:
            return b""
        text = _fitted(self.text, columns - 1)
        if not self._line:
            self._shown, self._below = True, False
            return text + b"\r"
        if not _is_simple(self._line, columns):
            return b""
        self._shown = self._below = True
        return _MAKE_ROOM + _SAVE + b"\n" + text + _RESTORE

    def around(self, piece: bytes) -> tuple[bytes, bytes]:
        """What to write before and after a piece of output."""
        line = self._line_after(piece)
        same_line = self._shown and self._below and b"\n" not in piece
        if same_line and _is_simple(line, columns_of_terminal(self._descriptor)):
            self._line = line
            return b"", b""
        before = self.hide()
        self._line = line
        return before, self.show()

    def written(self, piece: bytes) -> None:
        """Take note of output that was written while the line was not shown."""
        if self._live:
            self._line = self._line_after(piece)

    def line_ended(self) -> None:
        """The cursor is at the start of a line."""
        self._line = b""

    def cut_off(self, line_before: bytes, piece: bytes) -> None:
        """Only this much of a piece was written, without what was to follow it."""
        self._shown, self._line = False, line_before
        self._line = self._line_after(piece)

    @property
    def line(self) -> bytes:
        """The visible part of the line of output without an end."""
        return self._line

    def _line_after(self, piece: bytes) -> bytes:
        end = piece.rfind(b"\n") + 1
        return visible_part(piece[end:] if end else self._line + piece)[-_LONGEST_LINE:]


def columns_of_terminal(descriptor: int) -> int:
    """The columns as they are now; `COLUMNS` or 80 where there is no size."""
    try:
        columns = os.get_terminal_size(descriptor).columns
    except OSError:
        columns = 0
    given = os.environ.get("COLUMNS", "")
    return columns or (int(given) if given.isdecimal() and int(given) else 80)


def _is_simple(line: bytes, columns: int) -> bool:
    """True if a line takes one row for certain, and nothing in it moves the cursor to another row."""
    if len(line) >= _LONGEST_LINE:
        return False
    try:
        text = _HARMLESS.sub(b"", line).decode()
    except UnicodeDecodeError:  # also in the middle of a character
        return False
    return text.isprintable() and columns_of_text(text) < columns


@lru_cache(maxsize=4)
def _fitted(text: str, columns: int) -> bytes:
    return shortened_to_columns(text, min(columns, _MOST_COLUMNS)).encode("utf-8", "replace")


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
