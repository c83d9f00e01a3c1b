"""`smlocal jobs --watch` in a terminal."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit import Run

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

Remember = Callable[..., None]


@pytest.fixture
def watching(tmp_path: Path) -> Callable[..., Terminal]:
    """Starts to watch."""

    def start(*options: str, rows: int = 24) -> Terminal:
        terminal = Terminal(columns=100, rows=rows)
        terminal.start(
            [sys.executable, "-m", "smlocal", "jobs", "--watch", *options],
            cwd=str(tmp_path),
            environment={**os.environ, "SMLOCAL_HOME": str(tmp_path), "TERM": "xterm"},
        )
        return terminal

    return start


@pytest.mark.slow(0.5)
def test_a_table_changes_in_place_until_ctrl_c(
    watching: Callable[..., Terminal], remember: Remember, tmp_path: Path
) -> None:
    remember("first", ended=False)
    terminal = watching()
    terminal.until(lambda: any(line.startswith("first   training   InProgress") for line in terminal.lines))
    with Store.open(str(tmp_path)) as store:
        end = COMPLETED
        store.transition("first", status=end.status, phase=end.phase, message=end.message, at=2e9)
    remember("second")
    terminal.until(lambda: terminal.lines[1].startswith("second") and "Completed" in terminal.lines[2])
    assert [line.split()[0] for line in terminal.lines] == ["NAME", "second", "first"]
    before = len(terminal.raw)
    terminal.resize(columns=60)
    terminal.until(lambda: len(terminal.raw) > before)
    terminal.type(b"\x03")
    assert terminal.end() == 0
    assert terminal.raw.count(b"\x1b[?1049h") == terminal.raw.count(b"\x1b[?1049l") == 1
    after = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
    assert [line.split()[0] for line in after.replace("^C", "").splitlines()] == ["NAME", "second", "first"]


def test_more_jobs_than_rows_are_counted(watching: Callable[..., Terminal], remember: Remember) -> None:
    for number in range(9):
        remember(f"job-{number}")
    terminal = watching(rows=6)
    terminal.until(lambda: terminal.lines[-1] == "… and 6 more")
    assert [line.split()[0] for line in terminal.lines[:-1]] == ["NAME", "job-8", "job-7", "job-6"]
    terminal.type(b"\x03")
    assert terminal.end() == 0


@pytest.mark.parametrize("options", [(), ("--json",)], ids=str)
def test_without_a_terminal_it_is_refused(options: tuple[str, ...], smlocal: Run) -> None:
    done = smlocal("jobs", "--watch", *options)
    assert done.returncode == 2
    assert "error: --watch needs a terminal" in done.stderr
