"""Job files that cannot run: what `smlocal run` says, and that it makes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.fixtures import IMAGES, build_image

Json = dict[str, Any]
_REQUEST = 2
_MACHINE = 3
_POOL: Json = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "none"}}
_TRAINING: Json = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": {"imageUri": "none"}}
_SMALL = {"workerPoolSpecs": [_POOL]}


@pytest.mark.parametrize(
    ("job", "flags", "said"),
    [
        ({**_SMALL, "trainingInput": _TRAINING}, [], "trainingInput cannot stand beside workerPoolSpecs"),
        (
            {"workerPoolSpecs": [{**_POOL, "replicaCount": 2}]},
            [],
            "workerPoolSpecs[0].replicaCount is 2 and must be 1",
        ),
        ({"workerPoolSpecs": [_POOL] * 5}, [], "workerPoolSpecs[4] is one too many: a job has at most 4 pools"),
        ({"workerPoolSpecs": [_POOL, None, _POOL]}, [], "workerPoolSpecs[1] is null; write {} for an empty one"),
        (
            {"workerPoolSpecs": [{**_POOL, "machineSpec": {"machineType": "n1-standrd-4"}}]},
            [],
            "n1-standrd-4, which is not a machine type",
        ),
        (
            {"trainingInput": {**_TRAINING, "workerCount": 2}},
            [],
            "trainingInput.workerType is required with workerCount: 2",
        ),
        (
            _SMALL,
            ["--hyperparameter", "rate=1", "--instance-count", "2"],
            "which does not take --hyperparameter, --instance-count",
        ),
        (
            {**_SMALL, "Local": {"Sources": {"gs://bucket": "./absent"}}},
            [],
            "the folder for gs://bucket does not exist",
        ),
        ({**_SMALL, "Local": {"Publish": True}}, [], "Local.Publish"),
    ],
    ids=["both", "first-pool", "five-pools", "hole", "machine", "worker-type", "flags", "source", "other-setting"],
)
def test_what_is_wrong_with_a_job_file(
    job: Json, flags: list[str], said: str, tmp_path: Path, smlocal_home: Path, smlocal_run: Run
) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps(job))
    done = smlocal_run("run", file, *flags)
    assert (done.returncode, done.stdout) == (_REQUEST, "")
    assert said in done.stderr
    assert list((smlocal_home / "jobs").glob("*")) == []


def test_accelerators_that_this_machine_does_not_have(
    tmp_path: Path, smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> None:
    spec = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
    container = {"imageUri": build_image(IMAGES / "sh"), "command": ["true"]}
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"workerPoolSpecs": [{"machineSpec": spec, "containerSpec": container}]}))
    # An engine with GPUs runs the job as it is.
    without = smlocal_run("run", file, "--name", "accelerators-absent")
    assert without.returncode in {0, _MACHINE}
    if without.returncode == _MACHINE:
        assert "--allow-cpu" in without.stderr
    allowed = smlocal_run("run", file, "--name", "accelerators-not-needed", "--allow-cpu")
    assert allowed.returncode == 0, allowed.stderr
    if without.returncode == _MACHINE:
        described = smlocal_run("describe", "accelerators-not-needed").stdout
        assert "without the accelerators that the service gives them: workerpool0-0" in described
    assert_nothing_left("accelerators-not-needed")
