"""The Trainer of Hugging Face with the data parallel library, launched by the toolkit of AWS, on processors."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import IMAGES, build_image, left_of

pytestmark = pytest.mark.slow(20)

CODE = Path(__file__).with_name("code")


@pytest.mark.long
def test_the_trainer_on_two_hosts(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    name = "data-parallel-trainer"
    (tmp_path / "code").mkdir()
    shutil.copy(CODE / "trainer.py", tmp_path / "code")
    # What the SDK writes for distribution={"smdistributed": {"dataparallel": {"enabled": True}}}.
    hyperparameters = {
        "sagemaker_distributed_dataparallel_enabled": True,
        "sagemaker_distributed_dataparallel_custom_mpi_options": "",
        "sagemaker_instance_type": "ml.p4d.24xlarge",
        "sagemaker_program": "trainer.py",
        "sagemaker_submit_directory": "/opt/ml/code",
    }
    request = {
        "AlgorithmSpecification": {"TrainingImage": build_image(IMAGES / "distributed"), "TrainingInputMode": "File"},
        "Environment": {
            "OMP_NUM_THREADS": "1",
            "SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main",
        },
        "HyperParameters": {key: json.dumps(value) for key, value in hyperparameters.items()},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2},
        "StoppingCondition": {"MaxRuntimeInSeconds": 500},
        "Local": {"Code": "./code", "StopGraceSeconds": 1},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    options = ("--allow-cpu", "--processes-per-host", "2")
    done = smlocal_run("run", "job.json", "--name", name, *options, "--json", cwd=tmp_path, timeout=560)
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", answer["FailureReason"]
    assert left_of(name) == []
    log = Path(answer["Local"]["Hosts"][0]["Log"]).read_text(errors="backslashreplace")
    told = sorted(re.findall(r"(?:trainer|accelerate): rank .*", log))
    assert told == [
        *(f"accelerate: rank {rank} of 4 on cpu: equal True alone True gathered [0, 1, 2, 3]" for rank in range(4)),
        *(
            f"trainer: rank {rank} of 4 local {rank % 2} smddp cpu SAGEMAKER_DATA_PARALLEL: "
            "equal True alone True loss True"
            for rank in range(4)
        ),
    ]
    block = answer["Local"]["DataParallel"]
    assert (block["Library"], block["Backend"], block["WorldSize"], block["Ranks"]) == ("stand-in", "gloo", 4, 4)


def test_accelerate_started_by_torchrun(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    shutil.copy(CODE / "accelerate_alone.py", tmp_path / "code")
    request = {
        "AlgorithmSpecification": {
            "TrainingImage": build_image(IMAGES / "distributed"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["torchrun", "--nproc_per_node", "2", "/opt/ml/code/accelerate_alone.py"],
        },
        # As `accelerate launch` sets them for SageMaker.
        "Environment": {
            "OMP_NUM_THREADS": "1",
            "ACCELERATE_USE_SAGEMAKER": "true",
            "ACCELERATE_SAGEMAKER_DISTRIBUTED_TYPE": "DATA_PARALLEL",
        },
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 200},
        "Local": {"Code": "./code", "StopGraceSeconds": 1, "DataParallel": "always"},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    done = smlocal_run("run", "job.json", "--name", "data-parallel-accelerate", "--json", cwd=tmp_path, timeout=250)
    answer = json.loads(done.stdout)
    log = Path(answer["Local"]["Hosts"][0]["Log"]).read_text(errors="backslashreplace")
    assert answer["TrainingJobStatus"] == "Completed", log
    told = sorted(line for line in log.splitlines() if line.startswith("rank "))
    assert told == [f"rank {rank} of 2 smddp on cpu: [[1.5, 1.5]]" for rank in range(2)]
