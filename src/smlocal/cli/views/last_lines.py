"""The last lines of the host whose failure is the reason, and what of the reason is among them."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.cli.terminal.printable import printable, without_colours
from smlocal.quick_dataclass import dataclass

_LAST_LINES = 20
_TAIL = 1 << 14
"""Bytes of the log that these lines are looked for in."""
_EXIT_CODE = re.compile(r"\s*, exit code: -?\d+\Z")
_LEFT_OUT = "…"


@dataclass(frozen=True, kw_only=True, slots=True)
class LastLines:
    """The end of a log, as it can be shown."""

    host: str
    lines: tuple[str, ...]
    """More than are shown: a traceback may be longer."""

    def have(self, reason: str) -> bool:
        """True if the program wrote a reason of several lines, such as a traceback, to its output too."""
        more = reason_lines(_EXIT_CODE.sub("", reason))[1:]
        if not any(more):
            return False
        lines = set(self.lines)
        *whole, last = (line for line in more if line)
        # The service cuts a long reason.
        return all(line in lines for line in whole) and any(line.startswith(last) for line in self.lines)

    def shown(self, reason: str) -> list[str]:
        """The last twenty, without those that the reason above them has."""
        lines = self.lines[-_LAST_LINES:]
        if not self.have(reason):
            return [*lines]
        first, *more = reason_lines(_EXIT_CODE.sub("", reason))
        left = [_LEFT_OUT if line and (line in more or first.endswith(line)) else line for line in lines]
        kept = [line for number, line in enumerate(left) if line != _LEFT_OUT or left[number - 1 : number] != [line]]
        return [] if kept == [_LEFT_OUT] else kept


def last_lines(local: Mapping[str, Any]) -> LastLines | None:
    """Of the host whose failure is the reason; others fail after it, or because of it. None if there is no log."""
    for host in local["Hosts"]:
        if host["Name"] == local["FailedHost"] and host["Log"] and (lines := tuple(_end_of(host["Log"]))):
            return LastLines(host=host["Name"], lines=lines)
    return None


def without_repetition(reason: str) -> str:
    """The first and the last line of a reason that is right above: of a traceback, the last one has the error."""
    code = _EXIT_CODE.search(reason)
    first, *more = filter(None, reason_lines(_EXIT_CODE.sub("", reason)))
    last = f"{more[-1].strip()}{code[0].strip() if code else ''}"
    return "\n".join((first, *([_LEFT_OUT] if len(more) > 1 else []), last))


def reason_lines(reason: str) -> list[str]:
    """As the lines of a log are shown."""
    return [line.rstrip() for line in printable(reason).splitlines()] or [""]


def _end_of(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            text = without_colours(log.read().decode("utf-8", errors="replace"))
    except OSError:
        return
    yield from (printable(line).rstrip() for line in text.splitlines())
