"""The Trainer of Hugging Face with the data parallel library, launched by the toolkit of AWS, on processors."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.hosts.distributed.toolkit_job import ToolkitJob
from tests.kit.fixtures import IMAGES, build_image

pytestmark = [pytest.mark.slow(20), pytest.mark.large("tests/kit/images/distributed")]

CODE = Path(__file__).with_name("code")


@pytest.mark.long
@pytest.mark.slow(38)
def test_the_trainer_on_two_hosts(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    job = ToolkitJob(
        name="data-parallel-trainer",
        program="trainer.py",
        image=build_image(IMAGES / "distributed"),
        module="sagemaker_pytorch_container.training:main",
        instance_type="ml.p4d.24xlarge",
        hyperparameters={},
        environment={},
    )
    answer, log = job.run(smlocal_run, tmp_path)
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
