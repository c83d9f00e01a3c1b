import os
import sys
import time

import pytest

from smlocal.cli.terminal.messages import Messages
from smlocal.cli.terminal.running_line import Countdown, RunningLine, duration


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


@pytest.mark.parametrize("columns", range(8, 130))
def test_a_countdown_fits_and_always_has_its_seconds(columns: int) -> None:
    text = Countdown(why="SIGTERM sent", grace=120)(columns)
    assert len(text) < columns
    assert text.startswith("◌")
    assert text.endswith(" 120 s")


def test_without_a_terminal_there_is_a_line_only_after_ten_silent_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.pipe()
    with open(ours, "rb", buffering=0) as reader, open(theirs, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        messages = Messages(output_to=1, quiet=False, live=False)
        messages.last_print = printed = time.monotonic() - 8
        running = RunningLine(messages, lambda _: "running")
        assert reader.read(100) == b"running\n"
        running.end()
        assert messages.last_print - printed >= 10
