"""Files of real containers are seen at their target while the job runs, and go on being so when its supervisor dies."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside

Clean = Callable[[str], None]

STEPS = """
until_told() { until [ -e /opt/ml/output/$1 ]; do sleep 0.05; done; }
mkdir -p $AT/deep/er
head -c 3000000 /dev/zero | tr '\\0' x >$AT/deep/er/whole
until_told deleted; rm $AT/deep/er/whole
echo last >$AT/deep/last
until_told over
echo late >$AT/late
"""


def tell(home: Path, job: str, word: str, host: str = "algo-1") -> None:
    """Make the file that a container waits for."""
    touch_inside(home / "jobs" / job / "hosts" / host / "output" / word)


def files_in(folder: Path) -> dict[str, int]:
    """Every file below a folder that has its final name, with its size."""
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".sagemaker-uploading"):
                path = Path(above, name)
                if path.exists():
                    found[str(path.relative_to(folder))] = path.stat().st_size
    return found


@pytest.mark.slow(1)
def test_checkpoints_are_seen_while_the_job_runs(
    job_file: Callable[..., Path],
    background: Callable[..., Any],
    tmp_path: Path,
    assert_nothing_left: Clean,
) -> None:
    config = {"S3Uri": "./ckpt", "LocalPath": "/state"}
    job = background(job_file([], STEPS.replace("$AT", "/state"), InputDataConfig=None, CheckpointConfig=config))
    sizes: set[int] = set()

    def whole() -> bool:
        size = files_in(tmp_path / "ckpt").get("deep/er/whole")
        sizes.update([] if size is None else [size])
        return size is not None

    until(whole)
    assert sizes == {3_000_000}
    tell(job.home, job.name, "deleted")
    until(lambda: files_in(tmp_path / "ckpt") == {"deep/last": 5})
    tell(job.home, job.name, "over")
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed"
    assert answer["Local"]["Artifacts"]["Notes"] == []
    assert files_in(tmp_path / "ckpt") == {"deep/last": 5, "late": 5}
    assert_nothing_left(job.name)


@pytest.mark.slow(1)
def test_two_hosts_share_a_prefix_while_they_run(
    job_file: Callable[..., Path], background: Callable[..., Any], tmp_path: Path
) -> None:
    script = """
    cd /opt/ml/checkpoints
    echo mine >"$(sed 's/.*current_host":"\\([^"]*\\).*/\\1/' /opt/ml/input/config/resourceconfig.json)"
    until [ -e /opt/ml/output/over ]; do sleep 0.05; done
    ls
    echo same >same
    """
    path = job_file(
        [],
        script,
        InputDataConfig=None,
        CheckpointConfig={"S3Uri": "./ckpt"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    job = background(path)
    until(lambda: files_in(tmp_path / "ckpt") == {"algo-1": 5, "algo-2": 5})
    tell(job.home, job.name, "over", "algo-2")
    tell(job.home, job.name, "over")
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed"
    for host in ("algo-1", "algo-2"):
        assert (job.home / "jobs" / job.name / "logs" / f"{host}.log").read_text() == f"{host}\n"
    assert files_in(tmp_path / "ckpt") == {"algo-1": 5, "algo-2": 5, "same": 5}
    (note,) = answer["Local"]["Artifacts"]["Notes"]
    assert note.startswith("same: both algo-")


@pytest.mark.slow(1)
def test_who_takes_over_goes_on(
    job_file: Callable[..., Path],
    background: Callable[..., Any],
    smlocal_run: Run,
    tmp_path: Path,
    assert_nothing_left: Clean,
) -> None:
    job = background(
        job_file(
            [], STEPS.replace("$AT", "/opt/ml/checkpoints"), InputDataConfig=None, CheckpointConfig={"S3Uri": "./ckpt"}
        )
    )
    until(lambda: files_in(tmp_path / "ckpt") == {"deep/er/whole": 3_000_000})
    job.process.kill()
    job.process.communicate()
    tell(job.home, job.name, "deleted")
    recovering = subprocess.Popen(
        [sys.executable, "-m", "smlocal", "recover"],
        env={**os.environ, "SMLOCAL_HOME": str(job.home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: files_in(tmp_path / "ckpt") == {"deep/last": 5})
    finally:
        tell(job.home, job.name, "over")
        assert recovering.wait(240) == 0
    assert files_in(tmp_path / "ckpt") == {"deep/last": 5, "late": 5}
    answer = json.loads(smlocal_run("describe", job.name, "--json").stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    assert_nothing_left(job.name)
