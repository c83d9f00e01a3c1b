"""The stand-in for the data parallel library against gloo, and its launch by the toolkit against that of torchrun."""

import json
import subprocess
import time
from pathlib import Path

from measure import Samples, alternate
from results import Figure, Size, comparison, main
from workplace import BIN, ROOT, Workplace, image, workplace

BOUND = 1.05
BALANCED_BOUND = 1.5
START_BOUND = 1.2
PACKAGE = ROOT / "src" / "smlocal" / "distributed" / "container_package"
RANKS = Path(__file__).with_name("data_parallel_ranks.py")
TOOLKIT = ROOT / "tests" / "integration" / "images" / "distributed"
FIRST_LINE = "the first line of rank 0"
SCRIPT = f"""
import os
if os.environ.get("RANK") == "0":
    print("{FIRST_LINE}", flush=True)
import time
time.sleep(60)
"""


def measure(size: Size) -> list[Figure]:
    tag = image(ROOT / "examples" / "distributed" / "image")
    megabytes = 64 * size.scale
    sum_of_two = _by_turns(tag, size, "all_reduce", ranks=2, megabytes=megabytes)
    balanced = _by_turns(tag, size, "all_reduce", ranks=3, megabytes=megabytes, mode="balanced")
    epoch = _by_turns(tag, size, "epoch", ranks=2, megabytes=1)
    return [
        comparison(f"all_reduce of {megabytes:g} MB over 2 ranks, smddp ÷ gloo", *sum_of_two, BOUND),
        comparison(f"all_reduce of {megabytes:g} MB over 3 ranks, smddp balanced ÷ gloo", *balanced, BALANCED_BOUND),
        comparison("epoch of DistributedDataParallel over 2 ranks, smddp ÷ gloo", *epoch, BOUND),
        _start(size),
    ]


def _by_turns(
    tag: str, size: Size, what: str, *, ranks: int, megabytes: float, mode: str = "plain"
) -> tuple[Samples, Samples]:
    command = ["docker", "run", "--rm", "-v", f"{PACKAGE}:/opt/smlocal/distributed:ro", "-v", f"{RANKS}:/ranks.py:ro"]
    command += ["-e", "PYTHONPATH=/opt/smlocal/distributed/python", "-e", f"SMLOCAL_DDP_MODE={mode}", tag]
    command += ["torchrun", "--nproc_per_node", str(ranks), "/ranks.py", what, str(size.rounds), str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds = json.loads(done.stdout.splitlines()[-1])
    return Samples(values=tuple(seconds["smddp"])), Samples(values=tuple(seconds["gloo"]))


def _start(size: Size) -> Figure:
    tag = image(TOOLKIT)
    with workplace() as place:
        code = place.folder / "code"
        code.mkdir()
        (code / "train.py").write_text(SCRIPT)
        ours, theirs = alternate(
            lambda: _first_line(place, tag, code, "sagemaker_distributed_dataparallel_enabled"),
            lambda: _first_line(place, tag, code, "sagemaker_torch_distributed_enabled"),
            rounds=size.rounds,
            name="start by the toolkit",
        )
    what = "job start → first line of rank 0, toolkit with smddprun ÷ toolkit with torchrun"
    return comparison(what, ours, theirs, START_BOUND)


def _first_line(place: Workplace, tag: str, code: Path, launcher: str) -> float:
    """From the start of `smlocal run` on; the job is stopped at that line."""
    hyperparameters = {
        "sagemaker_program": '"train.py"',
        "sagemaker_submit_directory": '"s3://bucket/source/sourcedir.tar.gz"',
        "sagemaker_distribution_instance_groups": '["homogeneousCluster"]',
        "sagemaker_mpi_num_of_processes_per_host": "2",
        "sagemaker_instance_type": '"ml.p4d.24xlarge"',
        "sagemaker_distributed_dataparallel_custom_mpi_options": '""',
        "sagemaker_region": '"eu-west-1"',
        launcher: "true",
    }
    job = place.folder / "job.json"
    request = {
        "AlgorithmSpecification": {"TrainingImage": tag, "TrainingInputMode": "File"},
        "Environment": {"SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main"},
        "HyperParameters": hyperparameters,
        "OutputDataConfig": {"S3OutputPath": str(place.output)},
        "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 120},
        "Local": {"Code": str(code), "AllowCpu": True, "StopGraceSeconds": 0},
    }
    job.write_text(json.dumps(request))
    began = time.perf_counter()
    with subprocess.Popen(
        [BIN / "smlocal", "run", job, "--name", place.new_name()],
        env=dict(place.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout is not None
        found = any(FIRST_LINE in line for line in running.stdout)
        seconds = time.perf_counter() - began
        running.terminate()
        running.communicate(timeout=60)
    if not found:
        raise SystemExit(f"the job with {launcher} ended without a line of rank 0")
    return seconds


if __name__ == "__main__":
    main(measure)
