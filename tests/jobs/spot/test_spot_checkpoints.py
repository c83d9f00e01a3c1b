"""A job that loses its instances goes on from its checkpoints, as often as that happens."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.kit import Run, until
from tests.kit.jobs import Background

COUNTS = """
n=$(cat /opt/ml/checkpoints/n 2>/dev/null || echo 0)
run=$(sed 's/.*jobRunNumber":\\([0-9]*\\).*/\\1/' /opt/ml/input/config/init-config.json)
echo "from $n in run $run"
ls /opt/ml/model; echo $n >/opt/ml/model/begun-at-$n
n=$((n + 1))
trap 'echo $n >/opt/ml/checkpoints/n; exit 1' TERM
echo ready
while [ $n -lt 25 ] || [ $run != 3 ]; do n=$((n + 1)); sleep 0.1; done
echo $n >/opt/ml/checkpoints/n
"""


def is_ready(job: Background, attempt: int) -> bool:
    return job.output().count("ready") >= attempt


@pytest.mark.slow(2)
def test_a_job_goes_on_from_its_checkpoints(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    spot = {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 600},
    }
    job = background(job_file([], COUNTS, CheckpointConfig={"S3Uri": "./checkpoints"}, **spot))
    for attempt in (1, 2):
        until(partial(is_ready, job, attempt))
        assert smlocal_run("interrupt", job.name).returncode == 0
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed", answer
    lines = [line for line in job.output().splitlines() if line != "ready"]
    starts = [int(line.split()[1]) for line in lines]
    assert [line.split(" in ")[1] for line in lines] == ["run 1", "run 2", "run 3"]
    assert starts[0] == 0
    assert starts[0] < starts[1] < starts[2]
    assert answer["Local"]["Interruptions"] == 2
    assert answer["BillableTimeInSeconds"] < answer["TrainingTimeInSeconds"]
    assert (tmp_path / "checkpoints" / "n").read_text() == f"{max(25, starts[2] + 1)}\n"
    members = subprocess.run(
        ["tar", "-tzf", tmp_path / "out" / job.name / "output" / "model.tar.gz"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert members.stdout.split() == [f"begun-at-{starts[2]}"]
    assert_nothing_left(job.name)
