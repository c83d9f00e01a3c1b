"""Job after job in one process: nothing piles up. The benchmarks look at memory, over more jobs."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

JOBS = 30


@pytest.mark.slow(11)
@pytest.mark.long
def test_thirty_jobs_in_a_row_leave_nothing(life: Any, assert_nothing_left: Callable[[str], None]) -> None:
    life.environment["TMPDIR"] = str(life.folder / "temporary")
    (life.folder / "temporary").mkdir()
    program = Path(__file__).with_name("many_runs.py")
    done = subprocess.run(
        [sys.executable, program, life.job_file("row", "exit 0"), str(JOBS)],
        cwd=life.folder,
        env=life.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)
    assert len(files["late"]) == len(files["early"]), files
    assert life.store.count() == JOBS
    for number in range(JOBS):
        assert_nothing_left(f"row-{number}")
    assert list((life.folder / "temporary").iterdir()) == []
    for folder in (life.home / "jobs").iterdir():
        assert {path.name for path in folder.iterdir()} <= {
            *("describe.json", "logs", "plan.json", "request.json", "usage")
        }
