"""A reader of a job's tensors with the debugger's library sees them while it trains, and comes to an end with it."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import PROGRAMS, client_folder

Clean = Callable[[str], None]

EVERY_SHAPE = {
    "HookParameters": {"save_interval": "2", "include_workers": "all", "train.end_step": "1000000"},
    "CollectionConfigurations": [
        {"CollectionName": "losses", "CollectionParameters": {"save_interval": "1"}},
        {"CollectionName": "weights"},
        {"CollectionName": "default", "CollectionParameters": {}},
        {"CollectionName": "gradients", "CollectionParameters": {"save_steps": "1,3,5", "save_histogram": "False"}},
        {
            "CollectionName": "biases",
            "CollectionParameters": {"reductions": "min,max,abs_mean,l1_norm,abs_l2_norm", "start_step": "2"},
        },
        {
            "CollectionName": "mine",
            "CollectionParameters": {"include_regex": ".*relu.*,.*input_0", "train.save_interval": "3"},
        },
        {
            "CollectionName": "outputs",
            "CollectionParameters": {
                "include_regex": "output",
                "start_step": "1",
                "end_step": "5",
                "eval.save_interval": "7",
                "predict.save_steps": "2, 4",
            },
        },
        {"CollectionName": "all", "CollectionParameters": {"save_all": "true", "global.save_interval": "4"}},
    ],
}
HOOKS: dict[str, dict[str, Any]] = {
    "ends-default": {},
    "ends-empty": {"CollectionConfigurations": [], "HookParameters": {}},
    "ends-every": EVERY_SHAPE,
}
SAVED = {
    "CrossEntropyLoss_output_0": [0, 1, 2, 3, 4, 5, 6, 7],
    "Sequential_0.weight": [0, 2, 4, 6],
    "gradient/Sequential_0.weight": [0, 1, 2, 3, 4, 5, 6],  # the interval of HookParameters too
    "smdebug/reductions/abs_l2/Sequential_0.bias": [2, 4, 6],
    "0_input_0": [0, 3, 6],
    "0_output_0": [2, 4],
}
"""The files of the first eight steps with EVERY_SHAPE, by the documentation of the library."""
# Brings real tensors of another job, one step after the other, as a hook leaves them.
COPIES = """
trap 'exit 1' TERM
cd /opt/ml/input/data/tensors
for each in collections events index; do cp -r $each ../../../output/tensors/; sleep 0.1; done
echo "ready $(ls -A ../../../output/tensors | tr '\\n' ' ')"
until [ -e /opt/ml/output/go ]; do sleep 0.05; done
"""
BEFORE = {"Kind": "InternalError", "When": "Before"}
MARKER = "training_job_end.ts"


@pytest.fixture
def read(tmp_path: Path, image: Callable[[str], str]) -> Iterator[Callable[..., Callable[[], list[str]]]]:
    """Begins to read folders with the debugger's library; what it has said so far, line by line."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin(*folders: Path) -> Callable[[], list[str]]:
        said = tmp_path / f"read-{len(processes)}"
        name = f"reader-of-{tmp_path.name}-{len(processes)}"
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)  # so that it is ours, and not the engine's
        command = [
            "docker",
            "run",
            "--rm",
            "--name",
            name,
            "--volume",
            f"{tmp_path}:{tmp_path}",
            "--entrypoint",
            "reader",
        ]
        with said.open("wb") as out:
            processes.append(
                subprocess.Popen([*command, image("debugger"), *folders], stdout=out, stderr=subprocess.STDOUT)
            )
        return lambda: [line for line in said.read_text().splitlines() if line.startswith("/")]

    yield begin
    for number, process in enumerate(processes):
        if process.poll() is None:
            subprocess.run(["docker", "rm", "--force", f"reader-of-{tmp_path.name}-{number}"], check=False)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=200)


def hook(life: Any, name: str, **config: Any) -> tuple[dict[str, Any], Path]:
    """The members of a request that collects tensors, and the folder that readers look at."""
    return {"DebugHookConfig": {"S3OutputPath": "./debug", **config}}, life.folder / "debug" / name / "debug-output"


@pytest.mark.large("tests/kit/images/debugger")
@pytest.mark.slow(66)
@pytest.mark.long
def test_a_reader_ends_with_the_job_however_it_ends(
    life: Any, image: Callable[[str], str], read: Callable[..., Callable[[], list[str]]], assert_nothing_left: Clean
) -> None:
    trains = {"AlgorithmSpecification": {"TrainingImage": image("debugger"), "TrainingInputMode": "File"}}
    folders = {}
    for name, config in HOOKS.items():
        members, folders[name] = hook(life, name, **config)
        logs = {"TensorBoardOutputConfig": {"S3OutputPath": "./logs"}} if name == "ends-every" else {}
        life.detach(name, "", **trains, **members, **logs)
    said = read(*folders.values())
    for name, folder in folders.items():
        steps = 4 if name == "ends-every" else 1
        life.until_logged(name, "trained")
        life.until(lambda folder=folder, steps=steps: len([1 for line in said() if f"{folder} step" in line]) >= steps)
    assert not [line for line in said() if " ended: " in line]
    assert "CrossEntropyLoss_output_0" in life("tensors", "ends-every").stdout
    for name, folder in folders.items():
        assert not (folder / MARKER).exists()
        life.let_go(name)
    life.until(lambda: len([line for line in said() if " ended: " in line]) == len(folders))
    ended = {
        name: next(line for line in said() if line.startswith(f"{folder} ended")) for name, folder in folders.items()
    }
    assert "ended: 1 tensors, last step 0" in ended["ends-default"]
    assert "ended: 1 tensors, last step 0" in ended["ends-empty"]
    every = folders["ends-every"]
    assert {name: saved_steps(every, name) for name in SAVED} == SAVED
    for name in folders:
        assert life("wait", name).returncode == 0, life.log(name)
    losses = json.loads(life("tensors", "ends-every", "--match", "^CrossEntropyLoss_output", "--json").stdout)[
        "Tensors"
    ][0]
    assert by_tensorboard(life.folder / "logs" / "ends-every" / "tensorboard-output") == {
        "TRAIN/CrossEntropyLoss_output_0": {str(each["Step"]): each["Value"] for each in losses["Steps"]}
    }
    end_in_every_way(life, read, every, assert_nothing_left)


def by_tensorboard(folder: Path) -> Any:
    """What TensorBoard loads."""
    command = [client_folder("tensorboard") / "bin" / "python", PROGRAMS / "read_tensorboard.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


def saved_steps(folder: Path, tensor: str) -> list[int]:
    """The first eight steps at which a tensor was saved, from the index of the library."""
    return [
        step
        for step in range(8)
        for index in folder.glob(f"index/*/{step:012}_*.json")
        if tensor in {each["tensorname"] for each in json.loads(index.read_text())["tensor_payload"]}
    ]


def end_in_every_way(life: Any, read: Any, tensors: Path, assert_nothing_left: Clean) -> None:
    (tensors / MARKER).rename(life.folder / "old-marker")
    data = {"ChannelName": "tensors", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(tensors)}}}
    spot = {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
    }
    late = {"StoppingCondition": {"MaxRuntimeInSeconds": 3}}
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "ends-failed": ("exit 3", {}),
        "ends-stopped": ("", {}),
        "ends-late": ("", late),
        "ends-crashed": ("", {}),
        "ends-spot": ("", spot),
    }
    places = {}
    for name, (script, more) in ways.items():
        members, places[name] = hook(life, name)
        life.detach(name, f"{COPIES}\n{script}", InputDataConfig=[data], **members, **more)
    places["ends-unborn"] = hook(life, "ends-unborn")[1]
    said = read(*places.values())

    def ended(name: str) -> bool:
        return any(line.startswith(f"{places[name]} ended: ") for line in said())

    for name in set(ways) - {"ends-late"}:
        life.until(lambda name=name: any(line.startswith(f"{places[name]} step") for line in said()))
    life.until(lambda: ended("ends-late"))
    life.crash("ends-crashed")
    assert life("interrupt", "ends-spot").returncode == 0
    life.until(lambda: life.log("ends-spot").count("ready") == 2)
    # The second attempt begins with an empty folder, and what was read of the first is not the end.
    assert life.log("ends-spot").count("ready collections events index \n") == 2
    assert not any(ended(name) for name in set(ways) - {"ends-late"})
    life.let_go("ends-failed")
    life.let_go("ends-spot")
    life.ask_to_stop("ends-stopped")
    life.let_go("ends-crashed")
    assert life("recover").returncode == 0
    life.detach("ends-unborn", "", **hook(life, "ends-unborn")[0], Local={"Faults": [BEFORE]})
    life.until(lambda: all(ended(name) for name in places))
    for name in places:
        life("wait", name)
        assert_nothing_left(name)
    found = {name: life.job(name).status.value for name in places}
    assert found == {
        "ends-failed": "Failed",
        "ends-stopped": "Stopped",
        "ends-late": "Stopped",
        "ends-crashed": "Completed",
        "ends-spot": "Completed",
        "ends-unborn": "Failed",
    }


def test_the_end_of_an_earlier_job_is_not_that_of_the_next(life: Any, assert_nothing_left: Clean) -> None:
    members, folder = hook(life, "ends-again")
    assert life("run", life.job_file("ends-again", "", **members)).returncode == 0
    assert [path.name for path in folder.iterdir()] == [MARKER]
    script = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.05; done"
    life.detach("ends-again", script, flags=("--replace",), **members)
    life.until_logged("ends-again", "ready")
    assert not (folder / MARKER).exists()
    life.let_go("ends-again")
    assert life("wait", "ends-again").returncode == 0
    assert (folder / MARKER).read_bytes() == b""
    assert_nothing_left("ends-again")
