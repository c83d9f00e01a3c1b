"""From the start of a job to the first line of rank 0: the launcher of the data parallel library against torchrun."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import BIN, Workplace, image, workplace

ROOT = Path(__file__).parents[1]
IMAGE = ROOT / "tests" / "kit" / "images" / "distributed"
SCRIPTS = ROOT / "tests" / "clients" / "scripts"
BOUND = 1.2
HYPERPARAMETERS = {
    "sagemaker_program": '"torch_ranks.py"',
    "sagemaker_submit_directory": '"s3://nobody-has-this-bucket/sourcedir.tar.gz"',
    "sagemaker_container_log_level": "20",
    "sagemaker_region": '"eu-west-1"',
}


def measure(size: Size) -> list[Figure]:
    tag = image(IMAGE)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _first_line(place, tag, sagemaker_distributed_dataparallel_enabled="true", backend='"smddp"'),
            lambda: _first_line(place, tag, sagemaker_torch_distributed_enabled="true"),
            rounds=size.rounds,
            name="launchers",
        )
    what = "start of a job on 2 hosts to the first line of rank 0: `smddprun` by the toolkit ÷ torchrun by the toolkit"
    return [comparison(what, ours, theirs, BOUND)]


def _first_line(place: Workplace, tag: str, **hyperparameters: str) -> float:
    """Without the seconds that the toolkit sleeps on the first host between two attempts to reach the other one."""
    name = place.new_name()
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": tag, "TrainingInputMode": "File"},
        "HyperParameters": {**HYPERPARAMETERS, **hyperparameters},
        "Environment": {"SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main"},
        "OutputDataConfig": {"S3OutputPath": str(place.output)},
        "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2},
        "StoppingCondition": {"MaxRuntimeInSeconds": 300},
        "Local": {"Code": str(SCRIPTS), "AllowCpu": True, "StopGraceSeconds": 0},
    }
    path = place.folder / f"{name}.json"
    path.write_text(json.dumps(request))
    slept = 0
    began = time.perf_counter()
    with subprocess.Popen(
        [BIN / "smlocal", "run", path],
        env=place.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            slept += "algo-1 |" in line and "Cannot connect to host" in line
            if "rank 0 of 2" in line:
                break
        else:
            sys.exit(f"{name} has ended without a line of rank 0: {line}")
        seconds = time.perf_counter() - began - slept
        process.send_signal(signal.SIGTERM)  # the toolkit would sleep for half a minute
        process.stdout.read()
    return seconds


if __name__ == "__main__":
    main(measure)
