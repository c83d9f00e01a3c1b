"""The data parallel library for TensorFlow, launched by the toolkit of AWS on two hosts with two ranks each."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.hosts.distributed.toolkit_job import ToolkitJob
from tests.kit.fixtures import IMAGES, build_image

pytestmark = [pytest.mark.slow(15), pytest.mark.large("tests/kit/images/tensorflow")]

CODE = Path(__file__).with_name("code")


def test_one_process_alone(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    name = "data-parallel-tensorflow-alone"
    request = {
        "AlgorithmSpecification": {
            "TrainingImage": build_image(IMAGES / "tensorflow"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["python", "/opt/ml/code/tensorflow_alone.py"],
        },
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 200},
        "Local": {"Code": "./code", "DataParallel": {"Mode": "balanced"}},
    }
    (tmp_path / "code").mkdir()
    shutil.copy(CODE / "tensorflow_alone.py", tmp_path / "code")
    (tmp_path / "job.json").write_text(json.dumps(request))
    done = smlocal_run("run", "job.json", "--name", name, "--json", cwd=tmp_path, timeout=250)
    answer = json.loads(done.stdout)
    log = Path(answer["Local"]["Hosts"][0]["Log"]).read_text(errors="backslashreplace")
    assert answer["TrainingJobStatus"] == "Completed", log
    lines = log.splitlines()
    assert "smdistributed.dataparallel has not been initialized: call init() first" in lines
    assert "smlocal: the balanced fusion buffer is for PyTorch: TensorFlow reduces in its own way" in lines
    assert "0 of 1, 0 of 1 here: [2. 6.]" in lines
    assert answer["Local"]["DataParallel"]["Mode"] == "plain"


@pytest.mark.long
@pytest.mark.slow(42)
def test_tensorflow_on_two_hosts(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    job = ToolkitJob(
        name="data-parallel-tensorflow",
        program="tensorflow_model.py",
        image=build_image(IMAGES / "tensorflow"),
        module="sagemaker_tensorflow_container.training:main",
        instance_type="ml.p3.16xlarge",
        hyperparameters={"model_dir": "/opt/ml/model"},
        environment={"TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    answer, log = job.run(smlocal_run, tmp_path)
    told = sorted(re.findall(r"rank \d .*", log))
    refusals = "SMDDPError" + " SMDDPUnsupportedError" * 8 + " ValueError ImportError"
    assert told == sorted(
        line
        for rank in range(4)
        for line in (
            f"rank {rank} of 4 local {rank % 2} of 2: equal True alone True losses True",
            f"rank {rank} single: 2.5 10.0 1.0 4.0 2.5 3 [1.0, 2.0, 3.0, 4.0] True True [0, 3] 1.0 -2.5",
            f"rank {rank} refused: {refusals}",
        )
    )
    assert "the data parallel library is smlocal's stand-in: collectives of TensorFlow 2." in log
    block = answer["Local"]["DataParallel"]
    assert re.fullmatch(r"2\.\d+\.\d+", block.pop("TensorFlow"))
    assert block == {
        "Library": "stand-in",
        "Mode": "plain",
        "Backend": "collectives",
        "Python": "3.11",
        "WorldSize": 4,
        "Ranks": 4,
    }
