"""Scripts on several hosts, as the SDKs ask for them and as the toolkits and the SDK's own drivers launch them.

The jobs of both SDKs run side by side: launchers with mpirun sleep for half a minute after their work is done.
Only those are launched that a chosen test looks at.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.clients.conftest import PROGRAMS, User, client_folder, last_json
from tests.kit.fixtures import IMAGES, build_image, left_of
from tests.kit.forked import run_smlocal

SCRIPTS = PROGRAMS.with_name("scripts")
SIZE = os.environ.get("SMLOCAL_SMDDP", "2x2")
"""Hosts and processes on each, of the job with the data parallel library."""
OF_SDK_3 = ("torchrun", "mpirun")
_SECONDS = 850.0

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow(25),
    pytest.mark.large("tests/kit/images/distributed", "tests/kit/images/tensorflow"),
]


def looks_at(kind: str) -> pytest.MarkDecorator:
    """The job of the test."""
    return pytest.mark.parametrize("job", [kind], indirect=True)


@dataclass(frozen=True, kw_only=True)
class Launched:
    """A job that has ended."""

    name: str
    said: str
    """The status, or the SDK's error."""
    folder: Path

    def log(self, host: str) -> list[str]:
        return (self.folder / "logs" / f"{host}.log").read_text(errors="backslashreplace").splitlines()

    def described(self) -> dict[str, Any]:
        """By smlocal."""
        home = self.folder.parents[1]
        done = run_smlocal(["describe", self.name, "--json"], environment={**os.environ, "SMLOCAL_HOME": str(home)})
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def completed(self) -> "Launched":
        assert self.said == "Completed", "\n".join([self.said, *self.log("algo-1")[-30:]])
        assert left_of(self.name) == []
        return self

    def ranks(self, host: str = "algo-1") -> list[str]:
        """Each process's line about itself. mpirun writes the lines of all hosts, with a mark in front."""
        return sorted(match[0] for line in self.log(host) if (match := re.search(r"rank \d+ of .*", line)))


@pytest.fixture(scope="module")
def jobs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Launched]]:
    """By kind."""
    kinds = [
        test.callspec.params["job"]
        for test in request.session.items
        if test.path == request.path and isinstance(test, pytest.Function)
    ]
    token = uuid4().hex[:8]
    names = {kind: f"sdk2-{kind}-{token}" for kind in kinds if kind not in OF_SDK_3}
    of_sdk_3 = [kind for kind in kinds if kind in OF_SDK_3]
    torch = build_image(IMAGES / "distributed")
    tensorflow = build_image(IMAGES / "tensorflow") if {"parameter-servers", "mirrored"} & {*kinds} else ""
    found = {}
    with ExitStack() as stack:
        if names:
            words = [torch, tensorflow, str(SCRIPTS), *SIZE.split("x"), *(f"{kind}={names[kind]}" for kind in names)]
            second, ask_second = _begin(stack, tmp_path_factory.mktemp("sdk-2"), "sdk-2", "sdk2_launchers.py", words)
        if of_sdk_3:
            words = [torch, str(SCRIPTS), token, *of_sdk_3]
            third, ask_third = _begin(stack, tmp_path_factory.mktemp("sdk-3"), "sdk-3", "sdk3_launchers.py", words)
            found = {kind: _launched(third, name, said) for kind, (name, said) in ask_third().items()}
        if names:
            found |= {kind: _launched(second, names[kind], said) for kind, said in ask_second().items()}
        yield found


@pytest.fixture
def job(request: pytest.FixtureRequest, jobs: Mapping[str, Launched]) -> Launched:
    return jobs[request.param]


def _begin(
    stack: ExitStack, folder: Path, requirements: str, program: str, words: list[str]
) -> tuple[User, Callable[[], dict[str, Any]]]:
    """The user, and a function that waits for the program and returns what it found."""
    user = User(home=folder / "home", own=folder / "own")
    user.own.mkdir()
    said = folder / "said"
    command = [sys.executable, "-m", "smlocal", "exec", "--allow-cpu", "--"]
    process = stack.enter_context(
        subprocess.Popen(
            [*command, client_folder(requirements) / "bin" / "python", PROGRAMS / program, *words],
            cwd=user.own,
            env=user.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stack.enter_context(said.open("wb")),
            text=True,
        )
    )
    stack.callback(process.terminate)

    def ask() -> dict[str, Any]:
        output, _ = process.communicate(timeout=_SECONDS)
        assert process.returncode == 0, output + said.read_text()
        found: dict[str, Any] = last_json(output)
        return found

    return user, ask


def _launched(user: User, name: str, said: str) -> Launched:
    return Launched(name=name, said=said, folder=user.home / "jobs" / name)


@looks_at("mpi")
def test_mpi_with_options_of_the_user_in_one_of_two_groups(job: Launched) -> None:
    job.completed()
    assert job.ranks("algo-1") == ["rank 0 of 1 local None on algo-1 sum 1 no greeting"], "the other group runs it too"
    assert job.ranks("algo-2") == [
        "rank 0 of 4 local 0 on algo-2 sum 10 hello",
        "rank 1 of 4 local 1 on algo-2 sum 10 hello",
        "rank 2 of 4 local 0 on algo-3 sum 10 hello",
        "rank 3 of 4 local 1 on algo-3 sum 10 hello",
    ]
    assert "NCCL_DEBUG=INFO" in next(line for line in job.log("algo-2") if line.startswith("mpirun --host"))
    assert "MPI training job status file found. Exit gracefully" in "\n".join(job.log("algo-3"))


@looks_at("torch-distributed")
def test_torch_distributed(job: Launched) -> None:
    job.completed()
    for node, host in enumerate(("algo-1", "algo-2")):
        first = 2 * node
        assert job.ranks(host) == [
            f"rank {first} of 4 local 0 on {host} sum 10 gloo",
            f"rank {first + 1} of 4 local 1 on {host} sum 10 gloo",
        ]
        assert (
            "torchrun --nnodes 2 --nproc_per_node 2 --master_addr algo-1 --master_port 7777 "
            f"--node_rank {node} torch_ranks.py"
        ) in job.log(host)


@looks_at("parameter-servers")
def test_parameter_servers(job: Launched) -> None:
    job.completed()
    cluster = {"master": ["algo-1:2222"], "ps": ["algo-1:2223", "algo-2:2223"], "worker": ["algo-2:2222"]}
    for kind, host in (("master", "algo-1"), ("worker", "algo-2")):
        assert config_of(job, host) == {
            "cluster": cluster,
            "environment": "cloud",
            "task": {"index": 0, "type": kind},
        }
        assert "totals [2.0, 20.0]" in job.log(host), "each has added to a variable on each server"


@looks_at("mirrored")
def test_multi_worker_mirrored_strategy(job: Launched) -> None:
    job.completed()
    for index, host in enumerate(("algo-1", "algo-2")):
        assert config_of(job, host) == {
            "cluster": {"worker": ["algo-1:8890", "algo-2:8890"]},
            "environment": "cloud",
            "task": {"index": index, "type": "worker"},
        }
        assert "replicas 2 total 3.0" in job.log(host)


@looks_at("smddp")
def test_the_data_parallel_library(job: Launched) -> None:
    job.completed()
    hosts, processes = map(int, SIZE.split("x"))
    size = hosts * processes
    total = size * (size + 1) // 2
    assert job.ranks() == sorted(
        f"rank {rank} of {size} local {rank % processes} on algo-{rank // processes + 1} sum {total} smddp"
        for rank in range(size)
    )
    (command,) = (line for line in job.log("algo-1") if line.startswith("mpirun --host"))
    assert f"-np {size} " in command
    assert " -x GREETING=hello " in command
    assert " smddprun /usr/bin/python3 -m mpi4py torch_ranks.py " in command
    assert "MPI training job status file found. Exit gracefully" in "\n".join(job.log("algo-2"))
    assert any("the data parallel library is smlocal's stand-in" in line for line in job.log("algo-1"))
    assert [host["ExitCode"] for host in job.described()["Local"]["Hosts"]] == [0] * hosts


@looks_at("pytorchddp")
def test_a_rank_that_dies_fails_the_job_in_the_words_of_the_toolkit(job: Launched) -> None:
    """With `pytorchddp`, for which SDK v2 (2.257) asks for the data parallel library."""
    described = job.described()
    assert described["HyperParameters"]["sagemaker_distributed_dataparallel_enabled"] == "true"
    assert job.ranks() == [
        "rank 0 of 2 local 0 on algo-1 sum 3 gloo",
        "rank 1 of 2 local 0 on algo-2 sum 3 gloo",
    ]
    reason = described["FailureReason"]
    assert job.said.startswith(f"Error for Training job {job.name}: Failed. Reason: AlgorithmError: ")
    assert reason.startswith("AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage ")
    assert "ValueError: the last rank has no rows" in reason
    assert described["Local"]["FailedHost"] == "algo-1", "the one that mpirun runs on"
    assert left_of(job.name) == []


@looks_at("stopped")
def test_a_stop_that_the_entrypoint_passes_on_reaches_all_ranks(job: Launched) -> None:
    assert job.said == "Stopped"
    heard = sorted(match[0] for line in job.log("algo-1") if (match := re.search(r"rank \d on .* has heard .*", line)))
    assert heard == ["rank 0 on algo-1 has heard SIGTERM", "rank 1 on algo-2 has heard SIGTERM"]
    assert left_of(job.name) == []


@looks_at("torchrun")
def test_torchrun_of_sdk_3(job: Launched) -> None:
    job.completed()
    for rank, host in enumerate(("algo-1", "algo-2")):
        assert job.ranks(host) == [f"rank {rank} of 2 local 0 on {host} sum 3 gloo"]
        assert (
            "Executing command: torchrun --nnodes=2 --nproc_per_node=1 --master_addr=algo-1 --master_port=7777 "
            f"--node_rank={rank} torch_ranks.py"
        ) in job.log(host)


@looks_at("mpirun")
def test_mpi_of_sdk_3_starts_no_more_processes_than_one_host_has(job: Launched) -> None:
    """Its driver gives mpirun the processes of one host as the number of all."""
    job.completed()
    assert any(
        line.startswith("Executing command: mpirun --host algo-1:2,algo-2:2 -np 2 ") for line in job.log("algo-1")
    )
    assert job.ranks() == [
        "rank 0 of 2 local 0 on algo-1 sum 3 hello",
        "rank 1 of 2 local 1 on algo-1 sum 3 hello",
    ]
    assert "Found status file /tmp/done.algo-1" in "\n".join(job.log("algo-2"))


def config_of(job: Launched, host: str) -> Any:
    """TensorFlow's, as the script found it."""
    (config,) = (json.loads(line.partition(" ")[2]) for line in job.log(host) if line.startswith("TF_CONFIG "))
    return config
