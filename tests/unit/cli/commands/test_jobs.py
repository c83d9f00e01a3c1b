import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from fcntl import ioctl
from os import close, environ, fdopen
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.jobs.finish.describe import mark_containers_kept

LONG = "AlgorithmError: Exception during training: invalid literal for int() with base 10: 'five', exit code: 255"


def on_terminal(home: Path, columns: int, *arguments: str) -> list[str]:
    """The lines that a terminal of this width is given."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in environ.items() if name not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "smlocal", *arguments],
        env={**kept, "SMLOCAL_HOME": str(home), "TERM": "xterm", "SMLOCAL_PAGER": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        close(theirs)
        shown = b""
        with fdopen(ours, "rb", buffering=0) as terminal:
            try:
                while piece := terminal.read(4096):
                    shown += piece
            except OSError:  # what Linux says when the last process has closed it
                pass
    return re.sub(r"\x1b\[\d+m", "", shown.decode()).splitlines()


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_table_fits_the_terminal(columns: int, remember: Callable[..., None], tmp_path: Path) -> None:
    remember("a-job-with-a-long-name-0123456789", reason=LONG)
    remember("short")
    head, first, second = on_terminal(tmp_path, columns, "jobs")
    assert max(map(len, (head, first, second))) <= columns
    assert second.split()[-1] == "ago"
    assert "…" in second
    assert first.startswith("short ")
    if columns >= 80:
        # The reason gives way before the name does.
        assert "a-job-with-a-long-name-0123456789 " in second


def test_a_wide_terminal_shows_the_whole_reason(remember: Callable[..., None], tmp_path: Path) -> None:
    remember("bad", reason=LONG)
    assert LONG in on_terminal(tmp_path, 200, "jobs")[1]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", [100, 190])
def test_long_notes_wrap_at_words_below_themselves(columns: int, tmp_path: Path) -> None:
    lines = on_terminal(tmp_path, columns, "coverage")
    assert all(len(line) <= columns or " " not in line.strip().replace("  ", "", 1) for line in lines)
    continued = [line for line in lines if line.startswith("      ")]
    assert continued
    assert len({len(line) - len(line.lstrip()) for line in continued}) == 1


def test_a_long_error_wraps_with_its_indent(tmp_path: Path) -> None:
    name = "no-such-job-" * 4 + "x"
    lines = on_terminal(tmp_path, 60, "describe", name)
    assert lines[0].startswith("error: ")
    assert lines[0].endswith("[job-unknown]")
    assert all(line.startswith("  ") for line in lines[1:])
    assert name in " ".join(line.strip() for line in lines)


def test_a_job_that_has_kept_its_containers(remember: Callable[..., None], smlocal: Run, tmp_path: Path) -> None:
    remember("wreck", reason="AlgorithmError", local={"Hosts": []})
    mark_containers_kept(str(tmp_path / "jobs" / "wreck"))
    assert "Failed, kept" in smlocal("jobs").stdout
    assert '"ContainersKept": true' in smlocal("jobs", "--json").stdout
