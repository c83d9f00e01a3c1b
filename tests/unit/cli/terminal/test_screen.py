"""The lines of a run on a narrow terminal."""

import re

import pytest

from smlocal.cli.terminal.messages import ProgressMode
from smlocal.cli.terminal.screen import Screen

DETAIL = "training: 1 file, 141 B, copy-on-write of ./data"


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["✔ Downloading     0.1 s", "  training: 1 file, 141 B, copy-on-write", "  of ./data"]),
        (60, ["✔ Downloading     0.1 s   training: 1 file, 141 B,", " " * 26 + "copy-on-write of ./data"]),
        (None, [f"✔ Downloading     0.1 s   {DETAIL}"]),
    ],
)
def test_the_end_of_a_phase_is_wrapped_by_words(
    width: int | None, lines: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.cli.terminal.screen.width_of", lambda _: width)
    Screen(output_to=1, mode=ProgressMode.PLAIN).phase_ended("Downloading", 0.1, DETAIL)
    assert capfd.readouterr().err.splitlines() == lines


@pytest.mark.parametrize(("detail", "shown"), [("", ""), ("exit 0", "   exit 0")])
def test_a_phase_with_a_short_detail_is_one_line(
    detail: str, shown: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.cli.terminal.screen.width_of", lambda _: 40)
    Screen(output_to=1, mode=ProgressMode.PLAIN).phase_ended("Starting", 0.0, detail)
    assert capfd.readouterr().err == f"✔ Starting        0.0 s{shown}\n"


def test_the_progress_of_a_phase_is_in_its_own_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lines would replace each other each second."""
    monkeypatch.setenv("COLUMNS", "40")
    screen = Screen(output_to=1, mode=ProgressMode.TTY)
    screen.phase_began("Training")
    for text in ("Prepare 1 s · 0 of 4", "Train 2 s · 2 of 4 steps have ended"):
        screen.working(text)
    screen.phase_ended("Training", 3.0, "")
    shown = re.findall(r"● Training +\d+ s   [^\r\n\x1b]*", capfd.readouterr().err)
    assert list(dict.fromkeys(re.sub(r"\d+ s", "0 s", line, count=1) for line in shown)) == [
        "● Training       0 s   Prepare 1 s · 0…",
        "● Training       0 s   Train 2 s · 2 o…",
    ]


@pytest.mark.parametrize(
    ("status", "seconds", "detail", "shown"),
    [
        ("Starting", None, "the-job", "  ● Train            the-job"),
        ("Succeeded", 1.25, "", "  ✔ Train    1.2 s"),
        ("Failed", 0.0, "Depth is over 4", "  ✗ Train    0.0 s   Depth is over 4"),
        ("Stopped", 71.0, "", "  ◌ Train   71.0 s"),
    ],
)
def test_the_line_of_a_step(
    status: str, seconds: float | None, detail: str, shown: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Screen(output_to=1, mode=ProgressMode.PLAIN).step_changed("Train", status, seconds, detail)
    assert capfd.readouterr().err == f"{shown}\n"
