import os
import sys
from select import select

import pytest
from tests.kit import until

from smlocal.cli.terminal import messages as running_line
from smlocal.cli.terminal.messages import Countdown, Messages, RunningLine, duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (90061, "25 h 1 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", range(8, 130))
def test_a_countdown_fits_and_always_has_its_seconds(columns: int) -> None:
    text = Countdown(why="SIGTERM sent", grace=120)(columns)
    assert len(text) < columns
    assert text.startswith("◌")
    assert text.endswith(" 120 s")


class Clock:
    """One that stands still, and counts how often it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return self.now


def test_without_a_terminal_there_is_a_line_only_after_ten_silent_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(running_line, "time", clock)
    monkeypatch.setattr(running_line, "_SECOND", 0.01)
    ours, theirs = os.pipe()
    with open(ours, "rb", buffering=0) as reader, open(theirs, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        messages = Messages(output_to=1, quiet=False, live=False)
        messages.last_print, clock.now = 100.0, 109.9
        running = RunningLine(messages, lambda _: "running")
        until(lambda: clock.looks > 3)
        assert select([reader], [], [], 0)[0] == []
        clock.now = 110.0
        assert reader.read(len("running\n")) == b"running\n"
        running.end()
