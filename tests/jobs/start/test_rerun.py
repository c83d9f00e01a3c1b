"""`smlocal rerun`: the recorded request runs again, from any folder."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smlocal

Begin = Callable[[str], Path]
Clean = Callable[[str], None]
SCRIPT = "cat /opt/ml/input/data/train/a /opt/ml/input/config/hyperparameters.json; echo m >/opt/ml/model/m"


@pytest.fixture
def begin(life: Any, tmp_path: Path) -> Callable[[str], Path]:
    """Runs a job from its folder; returns another folder."""

    def run(name: str) -> Path:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "a").write_text("the data\n")
        source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
        channels = [{"ChannelName": "train", "DataSource": source}]
        done = life("run", life.job_file(name, SCRIPT, InputDataConfig=channels))
        assert done.returncode == 0, done.stderr
        other = tmp_path / "other"
        other.mkdir()
        return other

    return run


def from_folder(life: Any, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    here, life.folder = life.folder, folder
    try:
        done: subprocess.CompletedProcess[str] = life(*arguments)
        return done
    finally:
        life.folder = here


@pytest.mark.slow(2)
def test_from_another_folder_with_changes(life: Any, begin: Begin, tmp_path: Path, assert_nothing_left: Clean) -> None:
    elsewhere = begin("once-more")
    (tmp_path / "once-more.json").unlink()
    (elsewhere / "smlocal.toml").write_text('output = "./artifacts"\ninstance-count = 2\n')
    done = from_folder(life, elsewhere, "rerun", "once-more", "-p", "lr=0.1", "--set", "Local.Cpus=0.5")
    assert done.returncode == 0, done.stderr
    assert 'the data\n{"lr":"0.1"}' in done.stdout.replace(": ", ":")
    newest = life.store.list(limit=1)[0].name
    assert newest.startswith("once-more-2")
    assert newest in done.stderr
    assert life.model(newest) == ["m"]
    assert os.listdir(elsewhere) == ["smlocal.toml"]
    assert life.store.document(newest, "job")["Data"]["Local"] == {"Cpus": 0.5}
    assert_nothing_left(newest)

    chained = from_folder(life, elsewhere, "rerun", newest, "--name", "once-more-third", "--detach")
    assert (chained.returncode, chained.stdout) == (0, "once-more-third\n"), chained.stderr
    assert life("wait", "once-more-third").returncode == 0
    assert '"lr": "0.1"' in life.log("once-more-third").replace('":"', '": "')
    assert_nothing_left("once-more-third")


@pytest.mark.slow(1)
def test_of_a_job_whose_data_or_image_is_gone(
    life: Any, begin: Begin, tmp_path: Path, docker: Callable[..., str]
) -> None:
    elsewhere = begin("gone-data")
    docker("tag", life.image, "smlocal-rerun:here")
    try:
        tagged = life("rerun", "gone-data", "--image", "smlocal-rerun:here", "--name", "gone-image")
        assert tagged.returncode == 0, tagged.stderr
    finally:
        docker("rmi", "smlocal-rerun:here")
    gone = from_folder(life, elsewhere, "rerun", "gone-image", "--pull", "never")
    assert gone.returncode == 3
    assert "the image smlocal-rerun:here is not available locally" in gone.stderr

    shutil.rmtree(tmp_path / "data")
    gone = from_folder(life, elsewhere, "rerun", "gone-data")
    assert gone.returncode == 2
    assert 'channel "train": ./data does not exist' in gone.stderr
    assert f"S3Uri: ./data   in {tmp_path}" in gone.stderr
    assert "[source-missing]" in gone.stderr
    assert life.store.count() == 2


@pytest.mark.slow(3)
def test_of_a_job_whose_image_has_changed(life: Any, tmp_path: Path, docker: Callable[..., str]) -> None:
    tag = f"smlocal-rerun:changed-{os.getpid()}"
    docker("tag", life.image, tag)
    try:
        life("run", life.job_file("new-image-first", SCRIPT), "--image", tag)
        same = life("rerun", "new-image-first")
        (tmp_path / "Dockerfile").write_text(f"FROM {life.image}\nLABEL changed={os.getpid()}\n")
        docker("build", "--tag", tag, str(tmp_path))
        other = docker("image", "inspect", "--format", "{{.Id}}", tag).strip()
        changed = life("rerun", "new-image-first")
    finally:
        docker("rmi", "--force", tag)
    assert "is now another image" not in same.stderr
    assert f"! {tag} is now another image ({other[7:19]}) than the one that new-image-first ran (" in changed.stderr


@pytest.mark.slow(1)
def test_in_python(life: Any, begin: Begin, monkeypatch: pytest.MonkeyPatch, assert_nothing_left: Clean) -> None:
    elsewhere = begin("once-more-python")
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    monkeypatch.chdir(elsewhere)
    job = smlocal.TrainingJob("once-more-python").rerun(
        hyperparameters={"lr": 0.5}, members={"StoppingCondition.MaxRuntimeInSeconds": 60}
    )
    assert (job.status, job.name != "once-more-python") == ("Completed", True)
    answer = job.describe()
    assert answer["HyperParameters"] == {"lr": "0.5"}
    assert answer["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}
    with pytest.raises(TypeError, match="there is no keyword 'lr'"):
        job.rerun(lr=1)  # type: ignore[call-arg]
    assert_nothing_left(job.name)
