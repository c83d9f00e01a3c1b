"""Models of abandoned jobs: kept when they cannot be written, and the old ones until there are new ones."""

import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clean = Callable[[str], None]
TRAINS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; echo $WORD >/opt/ml/model/word"


def content(path: Path) -> str:
    """The text in the model."""
    if path.is_dir():
        return (path / "word").read_text().strip()
    with tarfile.open(path) as archive:
        file = archive.extractfile("word")
        assert file is not None
        return file.read().decode().strip()


def begin(life: Any, name: str, script: str, word: str, *flags: str, **members: Any) -> None:
    environment = {"SCRIPT": script, "WORD": word}
    life.detach(name, "", Environment=environment, flags=flags, **members)


def run(life: Any, name: str, script: str, word: str, *flags: str, **members: Any) -> dict[str, Any]:
    """Carry a job out that need not be waited for."""
    begin(life, name, script, word, *flags, **members)
    life("wait", name)
    answer: dict[str, Any] = life.describe(name)
    return answer


WRITES = "echo $WORD >/opt/ml/model/word"


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("moment", ["training", "uploading", "decided"])
def test_killed_where_the_output_cannot_be_written(moment: str, life: Any, assert_nothing_left: Clean) -> None:
    name, out = "kept-killed", life.folder / "out"
    begin(life, name, TRAINS, "trained")
    life.until_logged(name, "ready")
    out.write_text("a file where the folder should be")
    if moment == "training":
        life.crash(name)
    life.let_go(name)
    if moment == "uploading":
        life.until_phase(name, "Uploading")
        life.crash(name)
    elif moment == "decided":
        life.until(lambda: life.store.document(name, "local") is not None or life.job(name).status.terminal)
        life.crash(name)
    assert life("recover").returncode == 0
    answer = life.describe(name)
    assert (answer["TrainingJobStatus"], answer["Local"]["Leftovers"]) == ("Failed", [])
    assert answer["FailureReason"].startswith("ClientError: Artifact upload failed:")
    assert_nothing_left(name)
    assert os.listdir(answer["Local"]["Artifacts"]["Kept"]) == ["algo-1"]
    out.unlink()
    assert life("pack", name).returncode == 0
    assert content(out / name / "output" / "model.tar.gz") == "trained"
    assert sorted(
        path.name for path in (life.home / "jobs" / name).iterdir() if path.name not in {"usage", "docker-run"}
    ) == [*("describe.json", "logs", "plan.json", "request.json")]


@pytest.mark.slow(2)
def test_of_a_spot_job_the_last_attempt_is_kept(life: Any, assert_nothing_left: Clean) -> None:
    spot = {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120},
        "Local": {"Faults": [{"Kind": "Interrupt", "When": "During", "AfterSeconds": 2, "Times": 1}]},
    }
    script = """trap 'exit 1' TERM; echo $$ >/opt/ml/model/word; ls /opt/ml/model | wc -l >/opt/ml/output/data/files
    grep -q '"jobRunNumber":2' /opt/ml/input/config/init-config.json || while :; do sleep 0.05; done"""
    begin(life, "kept-spot", script, "", **spot, OutputDataConfig={"S3OutputPath": "./later"})
    (life.folder / "later").write_text("")
    assert life("wait", "kept-spot").returncode == 1
    answer = life.describe("kept-spot")
    assert (answer["Local"]["Attempts"], answer["Local"]["Leftovers"]) == (2, [])
    assert_nothing_left("kept-spot")
    assert life("pack", "kept-spot", "-o", "other").returncode == 0
    with tarfile.open(life.folder / "other" / "kept-spot" / "output" / "model.tar.gz") as archive:
        assert archive.getnames() == ["word"]


@pytest.mark.slow(1)
@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_the_old_model_goes_when_the_new_one_is_there(compression: str, life: Any) -> None:
    members = {"OutputDataConfig": {"S3OutputPath": "./out", "CompressionType": compression}}
    model = Path(
        run(life, "replaced-well", f"{WRITES}; echo >/opt/ml/model/old", "first", **members)["Local"]["Artifacts"][
            "Model"
        ]
    )
    assert content(model) == "first"
    begin(life, "replaced-well", TRAINS, "second", "--replace", **members)
    life.until_phase("replaced-well", "Training")
    assert content(model) == "first"
    life.let_go("replaced-well")
    assert life("wait", "replaced-well").returncode == 0
    assert content(model) == "second"
    if compression == "NONE":
        assert [path.name for path in model.iterdir()] == ["word"]
    assert [path.name for path in model.parent.iterdir()] == [model.name]
    assert life.describe("replaced-well")["Local"]["Artifacts"]["Notes"] == []


@pytest.mark.slow(3)
def test_the_old_model_stays_where_the_new_job_has_none(life: Any) -> None:
    model = Path(run(life, "replaced-in-vain", WRITES, "first")["Local"]["Artifacts"]["Model"])
    failed = run(life, "replaced-in-vain", "exit 3", "", "--replace")
    assert failed["TrainingJobStatus"] == "Failed"
    assert failed["Local"]["Artifacts"]["Model"] is None
    assert failed["Local"]["Artifacts"]["Notes"] == [f"{model} is from the job that this one replaced"]
    assert content(model) == "first"
    # Nor does a second failure forget it, killed before it could say a word.
    begin(life, "replaced-in-vain", TRAINS, "", "--replace")
    life.until_logged("replaced-in-vain", "ready")
    life.crash("replaced-in-vain")
    life("stop", "replaced-in-vain", "--grace", "0")
    life("wait", "replaced-in-vain")
    assert life.job("replaced-in-vain").status == "Stopped"
    assert content(model) == "first"
    # It goes with the first success, wherever that writes to.
    done = run(life, "replaced-in-vain", WRITES, "third", "--replace", OutputDataConfig={"S3OutputPath": "./elsewhere"})
    assert done["TrainingJobStatus"] == "Completed"
    assert not model.exists()
    assert content(life.folder / "elsewhere" / "replaced-in-vain" / "output" / "model.tar.gz") == "third"


@pytest.mark.slow(1)
def test_a_job_that_completes_without_a_model_has_no_old_one(life: Any) -> None:
    model = Path(run(life, "replaced-empty", WRITES, "first")["Local"]["Artifacts"]["Model"])
    assert run(life, "replaced-empty", "true", "", "--replace")["TrainingJobStatus"] == "Completed"
    assert not model.exists()


def test_the_old_model_stays_until_the_new_one_is_packed(life: Any) -> None:
    model = Path(run(life, "replaced-later", WRITES, "first")["Local"]["Artifacts"]["Model"])
    (life.folder / "full").mkdir()
    begin(life, "replaced-later", TRAINS, "second", "--replace", OutputDataConfig={"S3OutputPath": "./full"})
    life.until_logged("replaced-later", "ready\n")
    shutil.rmtree(life.folder / "full")
    (life.folder / "full").write_text("a file where the folder should be")
    life.let_go("replaced-later")
    assert life("wait", "replaced-later").returncode == 1
    assert content(model) == "first"
    done = life("pack", "replaced-later", "-o", "other", "--json")
    assert done.returncode == 0, done.stderr
    assert content(Path(json.loads(done.stdout)["Artifacts"]["Model"])) == "second"
    assert not model.exists()


def test_a_job_that_is_refused_replaces_nothing(life: Any) -> None:
    answer = run(life, "replaced-never", WRITES, "first")
    refused = life("run", life.job_file("replaced-never", "true"), "--replace", "--channel", "train=./no-such-folder")
    assert refused.returncode == 2
    assert life.describe("replaced-never")["CreationTime"] == answer["CreationTime"]
    assert content(Path(answer["Local"]["Artifacts"]["Model"])) == "first"
