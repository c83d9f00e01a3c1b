"""A job of two hosts whose program the training toolkit launches with the data parallel library, on processors."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.fixtures import left_of

_CODE = Path(__file__).with_name("code")


@dataclass(frozen=True, kw_only=True)
class ToolkitJob:
    """The differences from job to job."""

    name: str
    program: str
    """In `code`."""
    image: str
    module: str
    """The framework's entry point of the toolkit."""
    instance_type: str
    hyperparameters: Mapping[str, str]
    environment: Mapping[str, str]

    def run(self, smlocal_run: Callable[..., Any], folder: Path) -> tuple[dict[str, Any], str]:
        """Run it to its end; returns its answer and the log of its first host."""
        (folder / "code").mkdir()
        shutil.copy(_CODE / self.program, folder / "code")
        # What the SDK writes for distribution={"smdistributed": {"dataparallel": {"enabled": True}}}.
        hyperparameters = {
            "sagemaker_distributed_dataparallel_enabled": True,
            "sagemaker_distributed_dataparallel_custom_mpi_options": "",
            "sagemaker_instance_type": self.instance_type,
            "sagemaker_program": self.program,
            "sagemaker_submit_directory": "/opt/ml/code",
            **self.hyperparameters,
        }
        request = {
            "AlgorithmSpecification": {"TrainingImage": self.image, "TrainingInputMode": "File"},
            "Environment": {"OMP_NUM_THREADS": "1", "SAGEMAKER_TRAINING_MODULE": self.module, **self.environment},
            "HyperParameters": {key: json.dumps(value) for key, value in hyperparameters.items()},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": self.instance_type, "InstanceCount": 2},
            "StoppingCondition": {"MaxRuntimeInSeconds": 500},
            "Local": {"Code": "./code", "StopGraceSeconds": 1},
        }
        (folder / "job.json").write_text(json.dumps(request))
        options = ("--allow-cpu", "--processes-per-host", "2")
        done = smlocal_run("run", "job.json", "--name", self.name, *options, "--json", cwd=folder, timeout=560)
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["TrainingJobStatus"] == "Completed", answer["FailureReason"]
        assert left_of(self.name) == []
        return answer, Path(answer["Local"]["Hosts"][0]["Log"]).read_text(errors="backslashreplace")
