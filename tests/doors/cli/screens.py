"""The screen of a terminal as comparable text: colours as marks, and numbers that vary from run to run as 0."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.doors.cli.terminal import Terminal

_MEASURED = re.compile(r"^ *(memory|cpu|disk|gpu) .*|● \w+ +\d+ (s|min).*")
"""Also what is said elsewhere than on a terminal after ten silent seconds, on a busy machine."""
_MACHINE = re.compile(r"this\s+machine\s+has[^()]*(\(Local\.EnforceInstanceLimits\))?([ \n]*\[instance-size\])? *\n?")
_MARKS = re.compile(r"⟨[a-z ]*⟩")


def marked_lines(terminal: Terminal) -> list[str]:
    """Every line, with a mark wherever the look of the text changes: `⟨green⟩✔⟨⟩ Training`."""
    screen = terminal.screen
    rows = [*screen.history.top, *(screen.buffer[row] for row in range(len(terminal.lines)))]
    return [_marked(row, screen.columns) for row in rows]


def _marked(row: Mapping[int, Any], columns: int) -> str:
    text, look = "", ""
    for column in range(columns):
        cell = row[column]
        now = _look(cell)
        if now != look and (cell.data.strip() or now):
            text, look = f"{text}⟨{now}⟩", now
        text += cell.data
    return (text + ("⟨⟩" if look else "")).rstrip()


def _look(cell: Any) -> str:
    colour = cell.fg.removeprefix("default")
    background = "" if cell.bg == "default" else f"on {cell.bg}"
    return " ".join(filter(None, ("bold" if cell.bold else "", "faint" if cell.italics else "", colour, background)))


def without_marks(lines: Iterable[str]) -> list[str]:
    """Only the text."""
    return [_MARKS.sub("", line).rstrip() for line in lines]


def comparable(lines: Iterable[str], hidden: Iterable[str]) -> list[str]:
    """Without what differs between two runs and between two machines. `hidden`: words such as names of folders."""
    text = "\n".join(line for line in lines if not _MEASURED.match(line))
    for word in hidden:
        # The terminal may have broken it at its edge.
        text = re.sub("\n?".join(map(re.escape, word)), lambda found: re.sub(r"[^\n]", "x", found[0]), text)
    text = _MACHINE.sub("this machine has …\n", text)
    text = re.sub(r"linux/\w+|\bip(-\d+)+|\d{4}-\d\d-\d\d \S+|\d{4}-\d\d-\d\dT[\d:.]+", "…", text)
    text = re.sub(
        r"( *)((?:⟨[a-z ]*⟩)?)(?<![\w.-])\d+([.,:]\d+)*",
        lambda found: f"{' ' if found[1] else ''}{found[2]}0",
        text,
    )
    return [re.sub(r"(?<=\S) {3,}", "   ", line.rstrip()) for line in text.split("\n")]
