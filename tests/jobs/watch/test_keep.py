"""`--keep`: what an ended job had stays on the engine and on the disk, until it is removed."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import smlocal

Clean = Callable[[str], None]
Docker = Callable[..., str]
FAILS = "echo m >/opt/ml/model/m; mkdir -p /opt/ml/output/deep; echo d >/opt/ml/output/deep/d; echo s >/seen; exit 3"


@pytest.fixture(autouse=True)
def _nothing_stays(life: Any) -> Iterator[None]:
    """Containers that a failing test has kept are removed too."""
    yield
    life("rm", "kept-*")


def containers(docker: Docker, name: str) -> list[str]:
    return docker("ps", "--all", "--format", "{{.Names}}", "--filter", f"label=smlocal.job={name}").split()


def with_data(life: Any) -> list[dict[str, Any]]:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("the data\n")
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
    return [{"ChannelName": "train", "DataSource": source}]


@pytest.mark.slow(2)
def test_a_failed_job_keeps_its_containers_until_it_is_removed(
    life: Any, docker: Docker, assert_nothing_left: Clean
) -> None:
    file = life.job_file("kept-failed", FAILS, hosts=2, InputDataConfig=with_data(life))
    done = life("run", file, "--keep", "failed")
    assert done.returncode == 1, done.stderr
    assert "kept      the containers and their folders, until smlocal rm kept-failed" in done.stderr
    kept = containers(docker, "kept-failed")
    assert len(kept) == 2
    assert docker("cp", f"{kept[0]}:/seen", "-")
    assert (life.home / "jobs/kept-failed/hosts/algo-1/output/deep/d").read_text() == "d\n"
    assert life.model("kept-failed") == ["m"]
    assert life.describe("kept-failed")["Local"]["ContainersKept"] is True
    assert "kept, with their folders" in life("describe", "kept-failed").stdout
    assert "Failed, kept" in life("jobs").stdout
    assert json.loads(life("jobs", "--json").stdout)["TrainingJobSummaries"][0]["ContainersKept"] is True

    # The search for leftovers leaves it alone, and so does another job.
    assert life("recover").returncode == 0
    found = json.loads(life("doctor", "--json").stdout)["Doctor"]["Checks"]
    (leftovers,) = (each for each in found if each["Check"] == "leftovers")
    assert leftovers["Severity"] == "ok"
    assert "except what they were told to keep: kept-failed" in leftovers["Sentence"]
    assert life("run", life.job_file("kept-beside", "exit 0", hosts=2)).returncode == 0
    assert containers(docker, "kept-failed") == kept

    removed = life("rm", "kept-failed")
    assert (removed.returncode, removed.stderr) == (0, "removed kept-failed\n")
    assert_nothing_left("kept-failed")
    assert not (life.home / "jobs/kept-failed").exists()


@pytest.mark.slow(1)
def test_the_next_job_of_the_name_takes_it_away(life: Any, docker: Docker, assert_nothing_left: Clean) -> None:
    life("run", life.job_file("kept-replaced", FAILS), "--keep", "all")
    first = containers(docker, "kept-replaced")
    refused = life("run", life.job_file("kept-replaced", FAILS))
    assert refused.returncode == 2
    assert containers(docker, "kept-replaced") == first
    again = life("run", life.job_file("kept-replaced", FAILS), "--replace")
    assert again.returncode == 1, again.stderr
    assert "ContainersKept" not in life.describe("kept-replaced")["Local"]
    assert_nothing_left("kept-replaced")


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("keep", "script", "kept"), [("failed", "exit 0", 0), ("all", "exit 0", 1), ("none", "exit 1", 0)]
)
def test_which_jobs_keep_theirs(
    keep: Any,
    script: str,
    kept: int,
    life: Any,
    docker: Docker,
    monkeypatch: pytest.MonkeyPatch,
    assert_nothing_left: Clean,
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    job = smlocal.run(
        image=life.image, environment={"SCRIPT": script}, output=life.folder / "out", name=f"kept-of-{keep}", keep=keep
    )
    assert len(containers(docker, job.name)) == kept
    job.remove()
    assert_nothing_left(job.name)


def test_a_job_that_is_taken_over_keeps_its_containers(life: Any, docker: Docker, assert_nothing_left: Clean) -> None:
    script = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; exit 3"
    life.detach("kept-adopted", script, flags=("--keep", "failed"))
    life.until_logged("kept-adopted", "ready")
    life.crash("kept-adopted")
    life.let_go("kept-adopted")
    assert life("wait", "kept-adopted").returncode == 1
    assert len(containers(docker, "kept-adopted")) == 1
    assert life("rm", "kept-adopted").returncode == 0
    assert_nothing_left("kept-adopted")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a volume of a given size")
def test_what_is_mounted_stays_mounted_until_it_is_removed(life: Any, assert_nothing_left: Clean) -> None:
    members = {
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "Local": {"EnforceInstanceLimits": True, "Keep": "failed"},
    }
    done = life("run", life.job_file("kept-volume", FAILS, **members))
    assert done.returncode == 1, done.stderr
    assert "/jobs/kept-volume/" in Path("/proc/mounts").read_text()
    assert (life.home / "jobs/kept-volume/hosts/algo-1/model/m").read_text() == "m\n"
    assert life("rm", "kept-volume").returncode == 0
    assert_nothing_left("kept-volume")


def test_rm_asks_the_engine_of_the_job(life: Any, docker: Docker, tmp_path: Path) -> None:
    life("run", life.job_file("kept-elsewhere", "exit 3"), "--keep", "failed")
    life.environment["DOCKER_HOST"] = f"unix://{tmp_path}/none"
    assert life("rm", "kept-elsewhere").returncode == 0
    assert containers(docker, "kept-elsewhere") == []
