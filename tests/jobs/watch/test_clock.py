"""A system clock that steps back during a job: durations are true, and no time in the answer runs backwards."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.kit import Run

# Every look at the clock finds it ten seconds further back than the last.
STEPPING_BACK = """
import sys, time
real, looks = time.time, [0]
def stepping_back():
    looks[0] += 1
    return real() - 10 * looks[0]
time.time = stepping_back
from smlocal.cli.main import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


@pytest.mark.slow(1)
def test_a_clock_that_steps_back_disturbs_no_job(
    tmp_path: Path, smlocal_home: Path, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    arguments = ["run", "--image", image("sh"), "--name", "stepping-back", "--max-run", "200", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", STEPPING_BACK, *arguments, "-e", "SCRIPT=echo m >/opt/ml/model/m; sleep 1"],
        cwd=tmp_path,
        env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    transitions = answer["SecondaryStatusTransitions"]
    assert [one["Status"] for one in transitions] == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    for one, other in pairwise(transitions):
        assert one["StartTime"] <= one["EndTime"] == other["StartTime"]
    assert answer["CreationTime"] <= answer["TrainingStartTime"] <= answer["TrainingEndTime"]
    assert answer["LastModifiedTime"] >= answer["TrainingEndTime"]
    assert answer["TrainingTimeInSeconds"] >= 1
    assert 1 <= answer["Local"]["Seconds"]["Training"] < 200
    assert_nothing_left("stepping-back")


def test_the_end_of_the_training_is_before_the_containers_are_removed(
    tmp_path: Path, image: Callable[[str], str], smlocal_run: Run
) -> None:
    done = smlocal_run("run", "--image", image("sh"), "-e", "SCRIPT=true", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    last = answer["SecondaryStatusTransitions"][-1]
    assert last["StartTime"] == last["EndTime"] == answer["TrainingEndTime"] < answer["LastModifiedTime"]
