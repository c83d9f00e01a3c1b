"""Two hosts by every launcher that PyTorch, MPI and the published toolkits have: names, ports, ssh, the interface.

The jobs run side by side: the toolkit's MPI launcher alone sleeps for half a minute after its work is done.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.integration.conftest import IMAGES, build_image, left_of, run_docker

FOLDER = IMAGES / "distributed"
MODULE = "SAGEMAKER_TRAINING_MODULE"
DRIVERS = "/opt/ml/input/data/sm_drivers"
GROUPS = {"sagemaker_distribution_instance_groups": '["homogeneousCluster"]'}


def by_toolkit(program: str, module: str | None = None, **settings: str) -> dict[str, Any]:
    """A job as the SDK writes it."""
    return {
        "HyperParameters": {
            "sagemaker_program": json.dumps(program),
            "sagemaker_submit_directory": '"s3://nobody-has-this-bucket/source/sourcedir.tar.gz"',
            "sagemaker_container_log_level": "20",
            "sagemaker_region": '"eu-west-1"',
            **GROUPS,
            **settings,
        },
        **({"Environment": {MODULE: module}} if module else {}),
    }


JOBS: dict[str, dict[str, Any]] = {
    "torchrun": {"AlgorithmSpecification": {"ContainerEntrypoint": ["sh", "/opt/ml/code/launch.sh"]}},
    "sdk": {
        "AlgorithmSpecification": {
            "ContainerEntrypoint": ["/bin/bash"],
            "ContainerArguments": ["-c", f"chmod +x {DRIVERS}/sm_train.sh && {DRIVERS}/sm_train.sh"],
        },
        "InputDataConfig": [
            {
                "ChannelName": name,
                "InputMode": "File",
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"./{name}"}},
            }
            for name in ("code", "sm_drivers")
        ],
    },
    "mpi": by_toolkit("ranks.py", sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="2"),
    "torch-distributed": by_toolkit(
        "all_reduce.py", "sagemaker_pytorch_container.training:main", sagemaker_torch_distributed_enabled="true"
    ),
    "parameter-servers": by_toolkit(
        "cluster.py",
        "sagemaker_tensorflow_container.training:main",
        sagemaker_parameter_server_enabled="true",
        model_dir='"/opt/ml/model"',
    ),
}

Logs = Callable[[str, str], list[str]]


def write_drivers(folder: Path, image: str) -> None:
    """What the SDK's ModelTrainer uploads beside the code of a job with `Torchrun(process_count_per_node=1)`."""
    package = "/usr/local/lib/python3.11/dist-packages/sagemaker/train"
    container = run_docker("create", image, "none").strip()
    try:
        run_docker("cp", f"{container}:{package}/container_drivers", str(folder))
        run_docker("cp", f"{container}:{package}/templates.py", str(folder))
    finally:
        run_docker("rm", container)
    templates = runpy.run_path(str(folder / "templates.py"))
    driver = templates["EXEUCTE_DISTRIBUTED_DRIVER"].format(driver_name="Torchrun", driver_script="torchrun_driver.py")
    script = templates["TRAIN_SCRIPT_TEMPLATE"].format(
        working_dir="cd /opt/ml/input/data/code", install_requirements="", execute_driver=driver
    )
    (folder / "sm_train.sh").write_text(script)
    (folder / "sourcecode.json").write_text('{"source_dir": "code", "entry_script": "all_reduce.py"}')
    (folder / "distributed.json").write_text('{"process_count_per_node": 1, "smp": null}')


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What became of each job."""
    folder = tmp_path_factory.mktemp("launchers")
    image = build_image(FOLDER)
    shutil.copytree(FOLDER / "code", folder / "code")
    write_drivers(folder / "sm_drivers", image)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
    running = {}
    for launcher, members in JOBS.items():
        name = f"launcher-{launcher}-{uuid4().hex[:8]}"
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {
                "TrainingImage": image,
                "TrainingInputMode": "File",
                **members.get("AlgorithmSpecification", {}),
            },
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
            "StoppingCondition": {"MaxRuntimeInSeconds": 400},
            **{key: value for key, value in members.items() if key != "AlgorithmSpecification"},
            "Local": {"Code": str(FOLDER / "code"), "StopGraceSeconds": 1},
        }
        (folder / f"{name}.json").write_text(json.dumps(request))
        running[launcher] = subprocess.Popen(
            [sys.executable, "-m", "smlocal", "run", f"{name}.json", "--json"],
            cwd=folder,
            env={**kept, "SMLOCAL_HOME": str(folder / "home")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what the containers write is in their logs
        )
    try:
        yield {launcher: json.loads(process.communicate(timeout=500)[0]) for launcher, process in running.items()}
    finally:
        for process in running.values():
            process.terminate()
            process.wait()


@pytest.fixture
def logs(answers: dict[str, dict[str, Any]]) -> Logs:
    """The lines that a host of a job wrote; the job has ended well and left nothing."""

    def read(launcher: str, host: str) -> list[str]:
        answer = answers[launcher]
        paths = {each["Name"]: each["Log"] for each in answer["Local"]["Hosts"]}
        lines = Path(paths[host]).read_text(errors="backslashreplace").splitlines()
        assert answer["TrainingJobStatus"] == "Completed", "\n".join(lines[-30:])
        assert left_of(answer["TrainingJobName"]) == []
        return lines

    return read


def ranks(lines: list[str]) -> list[str]:
    """What each process said of itself; MPI puts its own mark in front."""
    return sorted(match[0] for line in lines if (match := re.search(r"rank \d of .*", line)))


@pytest.mark.long
def test_torchrun(logs: Logs) -> None:
    said = "of 4 sum 10 master algo-1 interface eth0"
    assert ranks(logs("torchrun", "algo-1")) == [f"rank 0 {said}", f"rank 1 {said}"]
    assert ranks(logs("torchrun", "algo-2")) == [f"rank 2 {said}", f"rank 3 {said}"]


@pytest.mark.long
def test_torchrun_of_the_sdk(logs: Logs) -> None:
    for rank, host in enumerate(("algo-1", "algo-2")):
        lines = logs("sdk", host)
        assert (
            "Executing command: torchrun --nnodes=2 --nproc_per_node=1 --master_addr=algo-1 --master_port=7777 "
            f"--node_rank={rank} all_reduce.py"
        ) in lines
        assert ranks(lines) == [f"rank {rank} of 2 sum 3 master algo-1 interface None"]


@pytest.mark.long
def test_mpirun_of_the_toolkit(logs: Logs) -> None:
    # The processes of all hosts speak through mpirun on the first.
    assert ranks(logs("mpi", "algo-1")) == [f"rank {rank} of 4 sum 10" for rank in range(4)]
    assert any(line.startswith(" Data for node: algo-2") for line in logs("mpi", "algo-1"))
    worker = "\n".join(logs("mpi", "algo-2"))
    assert "Can connect to host algo-1" in worker
    assert "MPI training job status file found. Exit gracefully" in worker


@pytest.mark.long
def test_torch_distributed_of_the_toolkit(logs: Logs) -> None:
    for rank, host in enumerate(("algo-1", "algo-2")):
        lines = logs("torch-distributed", host)
        assert (
            "torchrun --nnodes 2 --nproc_per_node 1 --master_addr algo-1 --master_port 7777 "
            f"--node_rank {rank} all_reduce.py"
        ) in lines
        assert ranks(lines) == [f"rank {rank} of 2 sum 3 master algo-1 interface None"]


@pytest.mark.long
def test_parameter_servers_of_the_toolkit(logs: Logs) -> None:
    cluster = {"master": ["algo-1:2222"], "ps": ["algo-1:2223", "algo-2:2223"], "worker": ["algo-2:2222"]}
    for kind, host in (("master", "algo-1"), ("worker", "algo-2")):
        lines = logs("parameter-servers", host)
        (config,) = (json.loads(line.partition(" ")[2]) for line in lines if line.startswith("TF_CONFIG "))
        assert config == {"cluster": cluster, "environment": "cloud", "task": {"index": 0, "type": kind}}
        assert {"algo-1:2223 says ps 0", "algo-2:2223 says ps 1", "met 1"} <= {*lines}
