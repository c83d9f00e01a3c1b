"""Long output goes to a pager, on a terminal only."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit import Run

Shown = Callable[..., Terminal]
PAGER = "tee paged"
_LAST_OF_HELP = "  smlocal cache rm --all                Remove everything that no job uses."


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """What a terminal of 24 rows shows of a command."""

    def show(*words: str, rows: int = 24, **environment: str) -> Terminal:
        kept = {name: value for name, value in os.environ.items() if name not in {"PAGER", "SMLOCAL_PAGER", "LESS"}}
        terminal = Terminal(columns=160, rows=rows)
        terminal.start(
            [sys.executable, "-m", "smlocal", *words],
            cwd=str(tmp_path),
            environment={**kept, "SMLOCAL_HOME": str(tmp_path), "TERM": "xterm", **environment},
        )
        terminal.end()
        return terminal

    return show


@pytest.fixture
def log(remember: Callable[..., None], tmp_path: Path) -> None:
    """A job with a log of a hundred lines."""
    remember("done")
    folder = tmp_path / "jobs" / "done" / "logs"
    folder.mkdir()
    (folder / "algo-1.log").write_text("".join(f"line {number}\n" for number in range(100)))


@pytest.mark.slow(2)
@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    "words",
    [
        *(("logs", "done"), ("help", "run"), ("coverage",), ("describe", "done", "--json")),
        *(("--help",), ("run", "--help-all")),
    ],
    ids=" ".join,
)
def test_long_output_is_paged_whole(words: tuple[str, ...], shown: Shown, smlocal: Run, tmp_path: Path) -> None:
    terminal = shown(*words, PAGER=PAGER)
    lines = terminal.all_lines()
    assert len(lines) > 24
    assert terminal.exit_code == 0
    paged = tmp_path / "paged"
    assert [line.rstrip() for line in paged.read_text(encoding="utf-8").splitlines()] == lines
    paged.unlink()
    assert shown(*words, "--no-pager", PAGER=PAGER).all_lines() == lines
    assert smlocal(*words, cwd=tmp_path, PAGER=PAGER).returncode == 0
    assert not paged.exists()


@pytest.mark.slow(2)
@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "rows", "environment"),
    [
        (("help", "exit-codes"), 60, {"PAGER": PAGER}),
        (("logs", "-n", "5"), 24, {"PAGER": PAGER}),
        (("logs", "-f"), 24, {"PAGER": PAGER}),
        (("logs",), 24, {"PAGER": PAGER, "SMLOCAL_PAGER": ""}),
        (("logs",), 24, {"PAGER": PAGER, "TERM": "dumb"}),
        (("--no-pager", "logs"), 24, {"PAGER": PAGER}),
        (("cache", "rm", "--help"), 60, {"PAGER": PAGER}),
        (("logs",), 24, {"PAGER": "no-such-pager"}),
        (("logs",), 24, {"PAGER": "'"}),
    ],
    ids=str,
)
def test_what_is_not_paged(
    words: tuple[str, ...], rows: int, environment: dict[str, str], shown: Shown, tmp_path: Path
) -> None:
    terminal = shown(*words, rows=rows, **environment)
    assert terminal.exit_code == 0
    assert not (tmp_path / "paged").exists()
    assert terminal.lines[-1] in {"line 99", "not in these.", _LAST_OF_HELP}


@pytest.mark.usefixtures("log")
def test_our_own_variable_counts_first_and_less_gets_its_options(shown: Shown) -> None:
    lines = shown("logs", PAGER=PAGER, SMLOCAL_PAGER="sh -c 'cat >/dev/null; echo LESS=$LESS'").lines
    assert lines == ["newest job: done", "LESS=FRX"]


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("log")
def test_a_pager_that_is_left_early_is_no_error(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "jobs" / "done" / "logs" / "algo-1.log").write_text("a line of many\n" * 100_000)
    terminal = shown("logs", PAGER="head -n 1")
    assert terminal.lines == ["newest job: done", "a line of many"]
    assert terminal.exit_code == 0
