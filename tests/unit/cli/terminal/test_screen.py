"""The lines of a run on a narrow terminal."""

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
