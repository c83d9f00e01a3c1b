"""A stop against the natural end, as close as they come: whatever wins, the job says so and is never Failed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RACES = int(os.environ.get("SMLOCAL_RACES", "200"))
PARALLEL = 4


@pytest.mark.slow(20)
@pytest.mark.long
def test_a_stop_never_turns_into_a_failure(life: Any, assert_nothing_left: Callable[[str], None]) -> None:
    script = "trap 'exit 7' TERM; echo ready; sleep $LASTS; exit 0"
    path = life.job_file("race", script)
    program = Path(__file__).with_name("many_stops.py")
    done = subprocess.run(
        [sys.executable, program, path, str(RACES), str(PARALLEL)],
        cwd=life.folder,
        env=life.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    recorded: dict[str, bool] = {}
    for lane in range(PARALLEL):
        recorded |= json.loads(Path(f"{path}.{lane}").read_text())
    assert len(recorded) == RACES
    life("wait", *recorded)
    ended = {name: life.job(name) for name in recorded}
    wrong = [
        f"{name}: stop {'recorded' if recorded[name] else 'refused'}, {job.status} {job.failure_reason}"
        for name, job in ended.items()
        if job.status != ("Stopped" if recorded[name] else "Completed")
    ]
    assert not wrong, "\n".join(wrong)
    assert set(recorded.values()) == {True, False}
    for name in recorded:
        assert_nothing_left(name)
