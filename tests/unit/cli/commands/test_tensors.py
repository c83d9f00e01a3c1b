"""`smlocal tensors` of folders that are there. What the debugger's library itself has written: in tests/jobs/rules."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kit import Run
from tests.kit.tensor_files import save, save_collections

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

HOOK = {"DebugHookConfig": {"S3OutputPath": "s3://bucket/debug"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two steps of a loss and a weight."""
    folder = tmp_path / "debug"
    for step in (0, 10):
        save(folder, step, {"loss": np.float32(4 - step / 10), "weight": np.arange(step, step + 6.0).reshape(2, 3)})
    save_collections(folder, losses=["loss"], all=["loss", "weight"])
    return folder


@pytest.fixture
def finished(tmp_path: Path) -> Callable[..., None]:
    """Remembers a job whose tensors went there."""

    def make(request: dict[str, Any], *, directory: Path | None = None, published: str | None = None) -> None:
        collector = {"Member": "DebugHookConfig", "Directory": str(directory), "Published": published}
        documents = {"request": request} | ({"plan": {"Collectors": [collector]}} if directory else {})
        with Store.open(str(tmp_path)) as store:
            store.create("job", run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=None).release()
            end = COMPLETED
            store.transition("job", status=end.status, phase=end.phase, message=end.message, at=2.0)

    return make


def rows(done: "subprocess.CompletedProcess[str]") -> list[list[str]]:
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def test_a_job_is_shown_by_its_beginning(smlocal: Run, finished: Callable[..., None], folder: Path) -> None:
    finished(HOOK, directory=folder)
    assert rows(smlocal("tensors", "jo")) == [
        ["TENSOR", "TYPE", "SHAPE", "STEPS", "COUNT", "LAST"],
        ["loss", "float32", "scalar", "0", "to", "10", "2", "3"],
        ["weight", "float64", "2x3", "0", "to", "10", "2"],
    ]


def test_one_step_of_some_tensors(smlocal: Run, folder: Path) -> None:
    shown = rows(smlocal("tensors", f"{folder}/", "--match", "os+$", "--step", "0"))
    assert shown[1:] == [["loss", "float32", "scalar", "0", "1", "4"]]


def test_statistics(smlocal: Run, folder: Path) -> None:
    save(folder, 20, {"loss": np.array([np.nan, 1, 3, np.inf]), "text": ["a"]})
    shown = rows(smlocal("tensors", str(folder), "--stats", "--match", "loss|text"))
    assert shown == [
        ["TENSOR", "STEP", "WORKER", "MIN", "MAX", "MEAN", "STD", "ZEROS", "NAN", "INF"],
        ["loss", "0", "worker_0", "4", "4", "4", "0", "0", "0", "0"],
        ["loss", "10", "worker_0", "3", "3", "3", "0", "0", "0", "0"],
        ["loss", "20", "worker_0", "1", "3", "2", "1", "0", "1", "1"],
        ["text", "20", "worker_0"],
    ]


def test_the_document(smlocal: Run, folder: Path) -> None:
    save(folder, 20, {"loss": np.float64("-inf")}, mode="EVAL", mode_step=1)
    done = smlocal("tensors", str(folder), "--json", "--stats")
    loss, weight = json.loads(done.stdout)["Tensors"]
    assert (loss["Name"], loss["Collections"]) == ("loss", ["all", "losses"])
    assert [each["Value"] for each in loss["Steps"]] == [4.0, 3.0, "-Infinity"]
    assert loss["Steps"][2]["Mode"] == "EVAL"
    assert loss["Steps"][2]["Statistics"]["Minimum"] is None
    step = weight["Steps"][1]
    assert "Value" not in step
    assert (step["Step"], step["Type"], step["Shape"], step["Statistics"]["Mean"]) == (10, "float64", [2, 3], 12.5)


def test_an_export(smlocal: Run, folder: Path, tmp_path: Path) -> None:
    done = smlocal("tensors", str(folder), "--export", "all.npz", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "4 tensors: all.npz\n")
    save(folder, 10, {"loss": np.float32(7)}, worker="worker_1")
    smlocal("tensors", str(folder), "--export", "all.npz", "--match", "loss", cwd=tmp_path)
    with np.load(tmp_path / "all.npz") as loaded:
        assert {name: value.tolist() for name, value in loaded.items()} == {
            "loss@0@worker_0": 4.0,
            "loss@10@worker_0": 3.0,
            "loss@10@worker_1": 7.0,
        }
    assert [each for each in os.listdir(tmp_path) if "partial" in each] == []
    refused = smlocal("tensors", str(folder), "--export", "/dev/null")
    assert (refused.returncode, "[output-unusable]" in refused.stderr) == (2, True)
    assert "[output-unusable]" in smlocal("tensors", str(folder), "--export", "no/all.npz", cwd=tmp_path).stderr


def test_a_damaged_file(smlocal: Run, folder: Path) -> None:
    (first, _) = sorted(folder.rglob("*.tfevents"))
    first.write_bytes(b"\0" * 200)
    done = smlocal("tensors", str(folder), "--stats")
    assert done.returncode == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["TENSOR", "STEP"],
        ["loss", "10"],
        ["weight", "10"],
    ]
    assert "1 file of " in done.stderr
    assert "[tensors-damaged]" in done.stderr
    assert "events/000000000000/000000000000_worker_0.tfevents, byte 0: the checksum of" in done.stderr
    document = smlocal("tensors", str(folder), "--json")
    assert document.returncode == 1
    damaged = json.loads(document.stdout)["Damaged"]
    assert [each["Offset"] for each in damaged] == [0, damaged[1]["Offset"]]
    first.unlink()
    (folder / "training_job_end.ts").touch()
    shown = smlocal("tensors", str(folder), "--step", "0")
    assert [line.split()[:2] for line in shown.stdout.splitlines()[1:]] == [["loss", "damaged"], ["weight", "damaged"]]


@pytest.mark.parametrize(
    ("arguments", "says", "error"),
    [
        (("--step", "3"), "no such tensor was saved in step 3", "tensor-step"),
        (("--match", "("), "--match ( is not a regular expression", "tensor-pattern"),
        (("--match", "los$"), "no name of a tensor matches", "tensors-missing"),
    ],
)
def test_what_there_is_not(arguments: tuple[str, ...], says: str, error: str, smlocal: Run, folder: Path) -> None:
    done = smlocal("tensors", str(folder), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert f"[{error}]" in done.stderr


def test_jobs_without_tensors(smlocal: Run, finished: Callable[..., None], folder: Path, tmp_path: Path) -> None:
    assert "[job-unknown]" in smlocal("tensors", "nobody").stderr
    assert "[tensors-missing]" in smlocal("tensors", f"{tmp_path}/nothing").stderr
    finished(HOOK, directory=tmp_path / "gone")
    done = smlocal("tensors", "job")
    assert (done.returncode, "the job job has no tensors " in done.stderr) == (2, True)
    folder.rename(tmp_path / "gone")
    assert smlocal("tensors", "job").returncode == 0


def test_a_job_without_a_hook(smlocal: Run, finished: Callable[..., None]) -> None:
    finished({})
    done = smlocal("tensors", "job")
    assert (done.returncode, "it has no DebugHookConfig" in done.stderr) == (2, True)
    assert "[no-debug-hook]" in done.stderr


def test_a_job_that_waits_to_be_started(smlocal: Run, finished: Callable[..., None]) -> None:
    finished(HOOK)
    assert "the job job has no tensors yet" in smlocal("tensors", "job").stderr


def test_tensors_in_s3(smlocal: Run, finished: Callable[..., None], tmp_path: Path) -> None:
    prefix = "s3://bucket/debug/job/debug-output/"
    finished(HOOK, directory=tmp_path / "none", published=prefix)
    done = smlocal("tensors", "job")
    assert (done.returncode, f"aws s3 sync {prefix} ./tensors" in done.stderr) == (2, True)
    assert "[tensors-in-s3]" in done.stderr


def test_an_export_has_what_is_not_damaged(smlocal: Run, folder: Path, tmp_path: Path) -> None:
    next(iter(folder.rglob("*.tfevents"))).write_bytes(b"\0" * 200)
    done = smlocal("tensors", str(folder), "--export", "all.npz", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("2 tensors: all.npz\n")
    assert "[tensors-damaged]" in done.stderr
