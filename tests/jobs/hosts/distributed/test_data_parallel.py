"""The stand-in for the data parallel library with real PyTorch: one model, the balanced buffer, PyTorch's own tests."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.kit.fixtures import IMAGES, build_image, left_of

pytestmark = pytest.mark.slow(25)

ROOT = Path(__file__).parents[4]
CODE = Path(__file__).with_name("code")
JOBS: dict[str, tuple[str, int, Any]] = {
    "model": ("exec sh two_hosts.sh one_model.py", 2, "always"),
    "balanced": (
        "exec torchrun --nproc_per_node 3 balanced.py",
        1,
        {"Mode": "balanced", "FusionBufferBytes": 4_194_304},
    ),
    "one-step": (
        "exec torchrun --nproc_per_node 2 one_step.py",
        1,
        {"Mode": "balanced", "FusionBufferBytes": 200_000},
    ),
    "not-started": (
        (
            "python -c 'import smdistributed.dataparallel.torch.torch_smddp, torch.distributed as dist; "
            """dist.init_process_group("smddp")'; test $? = 1"""
        ),
        1,
        "always",
    ),
    "strict": ("exec python strict.py", 1, "strict"),
    "suite": ("exec python suite.py", 1, "always"),
}
"""The command, the number of hosts, and the setting."""

Log = Callable[[str], list[str]]
Answer = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """The end of a job, which begins when it is asked for."""
    folder = tmp_path_factory.mktemp("data-parallel")
    image = build_image(ROOT / "examples" / "distributed" / "image")
    shutil.copytree(CODE, folder / "code")
    found = importlib.util.find_spec("expecttest")  # what PyTorch's tests are written with: pure Python
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, folder / "code" / "expecttest")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}

    @cache
    def run(kind: str) -> dict[str, Any]:
        command, hosts, setting = JOBS[kind]
        name = f"data-parallel-{kind}-{uuid4().hex[:8]}"
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {
                "TrainingImage": image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["sh", "-c", f"cd /opt/ml/code && {command}"],
            },
            "Environment": {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "eth0"},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
            "Local": {"Code": str(folder / "code"), "StopGraceSeconds": 1, "DataParallel": setting},
        }
        (folder / f"{name}.json").write_text(json.dumps(request))
        process = subprocess.Popen(
            [sys.executable, "-m", "smlocal", "run", f"{name}.json", "--json"],
            cwd=folder,
            env={**kept, "SMLOCAL_HOME": str(folder / "home")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what the containers write is in their logs
        )
        try:
            said: dict[str, Any] = json.loads(process.communicate(timeout=700)[0])
        finally:
            process.terminate()
            process.wait()
        return said

    return run


@pytest.fixture
def log(answer: Answer) -> Log:
    """The lines of all hosts of a job, which has ended well and left nothing."""

    def read(kind: str) -> list[str]:
        ended = answer(kind)
        lines = [
            line
            for host in ended["Local"]["Hosts"]
            for line in Path(host["Log"]).read_text(errors="backslashreplace").splitlines()
        ]
        assert ended["TrainingJobStatus"] == "Completed", "\n".join(lines[-40:])
        assert left_of(ended["TrainingJobName"]) == []
        return lines

    return read


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_one_model(log: Log, answer: Answer) -> None:
    lines = log("model")
    told = sorted(line for line in lines if line.startswith("rank "))
    # Two hosts with two processes each: the global batch is four shards.
    assert told == [
        f"rank {rank} of 4 local {rank % 2} {rank % 2}: "
        "equal [True, True, True, True] alone True gloo True no_sync True"
        for rank in range(4)
    ]
    block = answer("model")["Local"]["DataParallel"]
    assert re.fullmatch(r"2\.\d+\.\d+(\+cpu)?", block.pop("PyTorch"))
    assert block == {
        "Library": "stand-in",
        "Mode": "plain",
        "Backend": "gloo",
        "Python": "3.11",
        "WorldSize": 4,
        "Ranks": 4,
    }
    said = [line for line in lines if line.startswith("smlocal: ")]
    assert len(said) == 3, said  # only by the first rank
    assert said[0].startswith("smlocal: the data parallel library is smlocal's stand-in: smddp is gloo of PyTorch 2.")
    assert "device_ids and output_device, which are for GPUs, are ignored" in said[1]
    assert "refuses further process groups" in said[2]


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_the_balanced_buffer(log: Log, answer: Answer) -> None:
    told = sorted(line for line in log("balanced") if line.startswith("rank "))
    sizes = "SMDDPBufferError: the ranks reduce buffers of different sizes together: [5, 6, 7] numbers"
    assert told == [f"rank {rank}: exact True highest 2 gloo True equal True sizes {sizes}" for rank in range(3)]
    balanced = answer("balanced")["Local"]["DataParallel"]["Balanced"]
    assert balanced["Iterations"] == 3
    # Six variables of 1,582,087 numbers in all: equal parts, against whole variables on one server after the other.
    assert balanced["IterationBytes"] == {
        "Balanced": [2_109_452, 2_109_452, 2_109_452],
        "WholeVariables": [2_101_248, 32_768, 4_194_332],
    }
    assert len({*balanced["ServerBytes"]}) == 1
    last = balanced["LastIteration"]
    first, *_, final = last["Buffers"]
    # The backward pass went on while the first buffer was reduced.
    assert first["Begin"] < final["Ready"] < first["End"]
    assert last["BegunBeforeTheNextWasReady"] >= 1
    assert sum(each["Bytes"] for each in last["Buffers"]) == 1_582_087 * 4


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_the_first_iteration_keeps_the_size_of_the_buffer(log: Log, answer: Answer) -> None:
    log("one-step")
    balanced = answer("one-step")["Local"]["DataParallel"]["Balanced"]
    assert balanced["Iterations"] == 1
    sizes = [each["Bytes"] for each in balanced["LastIteration"]["Buffers"]]
    assert sum(sizes) == 12 * (128 * 128 + 128) * 4
    assert max(sizes) < 200_000 + 128 * 128 * 4  # a buffer is full with the variable that reaches the limit


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_a_library_whose_process_group_did_not_start_was_used(log: Log, answer: Answer) -> None:
    assert any("the data parallel library is smlocal's stand-in" in line for line in log("not-started"))
    block = answer("not-started")["Local"]["DataParallel"]
    assert (block["Library"], block["Ranks"], block["Mode"]) == ("stand-in", 0, "plain")


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_what_the_library_refuses(log: Log) -> None:
    said = dict(line.split(": ", maxsplit=1) for line in log("strict") if ": " in line)
    assert said["first group"] == "allowed"
    assert said["subgroup"].startswith(
        "SMDDPUnsupportedError: the data parallel library refuses further process groups"
    )
    assert said["gloo beside it"].startswith("SMDDPUnsupportedError: ")
    assert said["second start"] == "ValueError: trying to initialize the default process group twice!"
    assert said["process group at the end"] == "False", "PyTorch may abort a process that ends with one"


@pytest.mark.large("examples/distributed/image")
@pytest.mark.long
def test_the_tests_of_pytorch(log: Log, answer: Answer) -> None:
    lines = log("suite")
    with tarfile.open(answer("suite")["Local"]["Artifacts"]["Model"]) as archive:
        file = archive.extractfile("suite.json")
        assert file is not None
        result = json.load(file)
    assert result["wrong"] == {}, "\n".join(lines[-40:])
    assert result["passed"] >= 60, result["skipped"]


@pytest.mark.slow(1)
def test_a_program_of_any_user_can_use_it(smlocal_run: Callable[..., Any], tmp_path: Path) -> None:
    script = (
        "id -un; cd /opt/smlocal; cat distributed/python/smdistributed/__init__.py >/dev/null && "
        "{ smddprun true || test $? = 2; } && ! touch distributed/new && "
        """echo '{"Library": "stand-in", "Rank": 0, "WorldSize": 1, "Mode": "plain"}' >records/0.json"""
    )
    request = {
        "AlgorithmSpecification": {"TrainingImage": build_image(IMAGES / "other-user"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": script},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"DataParallel": "always"},
    }
    (tmp_path / "any-user.json").write_text(json.dumps(request))
    before = os.umask(0o077)
    try:
        done = smlocal_run("run", "any-user.json", "--name", "data-parallel-any-user", "--json", cwd=tmp_path)
    finally:
        os.umask(before)
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert "nobody" in done.stderr
    used = answer["Local"]["DataParallel"]
    assert (used["Library"], used["Ranks"]) == ("stand-in", 1)
