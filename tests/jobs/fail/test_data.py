"""Disks that fill up and data that goes away, at the moments that hurt."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.s3_servers import S3Server, S3Servers

Fails = Callable[..., dict[str, Any]]

HOSTS = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
"""More than one get a network first: a request to the engine between listing the data and bringing it."""
A_CONTAINER = r"POST \S*/containers/create\S*algo-1"
A_NETWORK = r"POST \S*/networks/create"
AN_ATTACHMENT = r"POST \S*/attach"
"""The last request before Docker mounts what a container sees, at the start; and the one at which Podman does."""


@pytest.fixture
def s3(s3_servers: S3Servers) -> S3Server:
    return s3_servers("rclone")


def channel(staging: str) -> dict[str, Any]:
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
    return {"InputDataConfig": [{"ChannelName": "train", "DataSource": source}], "Local": {"Staging": staging}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("a.csv", "b.csv", "c.csv"):
        (folder / name).write_text(name)
    return folder


def test_data_that_is_larger_than_the_free_space_is_refused_before_the_job_is_made(
    data: Path, small_disk: Path, smlocal_run: Run, image: Callable[[str], str], s3: S3Server
) -> None:
    (data / "large").write_bytes(bytes(8 << 20))
    bucket = s3.make_bucket()
    s3.put(bucket, "in/large", bytes(8 << 20))
    env = {**s3.environment, "SMLOCAL_HOME": str(small_disk / "home")}
    job = ("run", "--image", image("sh"), "--name", "too-large", "--output", data.parent / "out")
    for how, given in (
        ("copied", ("--channel", f"train={data}", "--set", "Local.Staging=copy")),
        ("downloaded", ("--channel", f"train=s3://{bucket}/in/")),
    ):
        done = smlocal_run(*job, *given, env=env)
        assert done.returncode == 3, done.stderr
        assert "the data of the job has 8.0 MiB, and 1." in done.stderr
        assert f"train: 8.0 MiB to be {how}" in done.stderr
        assert "[disk-too-small]" in done.stderr
    assert smlocal_run("jobs", "--quiet", env=env).stdout == ""


def test_data_that_the_cache_holds_or_another_channel_brings_needs_no_space(
    small_disk: Path, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path, s3: S3Server
) -> None:
    bucket = s3.make_bucket()
    s3.put(bucket, "in/large", bytes(1_200_000))
    env = {**s3.environment, "SMLOCAL_HOME": str(small_disk / "home")}
    channels = [each for name in ("train", "again") for each in ("--channel", f"{name}=s3://{bucket}/in/")]
    job = ("--image", image("sh"), *channels, "--output", tmp_path / "out")
    for name in ("cached-first", "cached-again"):
        done = smlocal_run("run", *job, "--name", name, "-e", "SCRIPT=true", env=env)
        assert done.returncode == 0, done.stderr


def test_the_disk_is_full_while_data_is_copied(fails: Fails, data: Path, small_disk: Path, relay: Any) -> None:
    """There was room for both copies, until another program wrote there."""
    (data / "large").write_bytes(bytes(600_000))
    relay.before(A_NETWORK, lambda: (small_disk / "other").write_bytes(bytes(700_000)))
    home = {"SMLOCAL_HOME": str(small_disk / "home"), "DOCKER_HOST": relay.address}
    answer = fails("staging-full", "true", more={**HOSTS, **channel("copy")}, env=home)
    assert "No space left on device" in answer["Local"]["Explanation"]
    assert not (small_disk / "home" / "jobs" / "staging-full" / "staged").exists()


def fill(disk: Path) -> None:
    """As another program does that writes until nothing more goes."""
    with suppress(OSError), (disk / "other").open("ab", buffering=0) as other:
        while other.write(bytes(512)):
            pass


def test_another_program_fills_the_home(fails: Fails, small_disk: Path, relay: Any) -> None:
    relay.before(A_CONTAINER, lambda: fill(small_disk))
    home = {"SMLOCAL_HOME": str(small_disk / "home"), "DOCKER_HOST": relay.address}
    answer = fails("home-full", "true", env=home)
    assert "disk with the job records is full" in answer["Local"]["Explanation"]


def test_a_home_that_stays_full_keeps_no_record_but_the_job_has_failed(
    small_disk: Path,
    relay: Any,
    smlocal_run: Callable[..., Any],
    image: Callable[[str], str],
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    # Job folders are on another disk: what a job frees there leaves no room for its record.
    (small_disk / "home").mkdir(mode=0o700)
    (tmp_path / "jobs").mkdir(mode=0o700)
    (small_disk / "home" / "jobs").symlink_to(tmp_path / "jobs")
    relay.before(A_CONTAINER, lambda: fill(small_disk))
    home = {"SMLOCAL_HOME": str(small_disk / "home")}
    job = ("--image", image("sh"), "--name", "home-stays-full", "--output", tmp_path / "out", "-e", "SCRIPT=true")
    done = smlocal_run("run", *job, "--json", env={**home, "DOCKER_HOST": relay.address})
    assert done.returncode == 1, done.stderr
    error = json.loads(done.stdout)["Error"]
    assert error["Id"] == "job-unrecorded"
    assert "Failed: ClientError: Data download failed:Insufficient disk space" in error["Details"]
    assert_nothing_left("home-stays-full")
    (small_disk / "other").unlink()

    def failed() -> bool:
        answer = json.loads(smlocal_run("describe", "home-stays-full", "--json", env=home).stdout)
        return bool(answer["TrainingJobStatus"] == "Failed")

    until(failed)
    smlocal_run("wait", "home-stays-full", env=home)  # its supervisor still holds the disk


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_the_disk_is_full_while_artifacts_are_packed(compression: str, fails: Fails, small_disk: Path) -> None:
    script = "head -c 8000000 /dev/urandom >/opt/ml/model/m; echo done >/opt/ml/output/data/d"
    output = {"S3OutputPath": str(small_disk), "CompressionType": compression}
    fails("archive-full", script, more={"OutputDataConfig": output})
    assert list((small_disk / "archive-full" / "output").iterdir()) == []


def test_the_disk_is_full_after_a_failure(fails: Fails, small_disk: Path) -> None:
    script = "head -c 8000000 /dev/urandom >/opt/ml/model/m; exit 1"
    answer = fails("archive-full-failed", script, more={"OutputDataConfig": {"S3OutputPath": str(small_disk)}})
    kept = answer["Local"]["Artifacts"]["Kept"]
    assert answer["Local"]["Explanation"] == (
        f"Artifact upload failed:Insufficient disk space; {small_disk}/archive-full-failed/output; "
        f"the job's output is kept in {kept}; to pack it: smlocal pack archive-full-failed --output DIR"
    )


def test_the_output_folder_is_replaced(fails: Fails, beside: Callable[..., Any], tmp_path: Path) -> None:
    go = tmp_path / "data" / "go"
    go.parent.mkdir()
    go.write_text("wait")  # an empty file would not show that an engine with other mounts sees the folder
    script = "echo m >/opt/ml/model/m; until grep -q go /opt/ml/input/data/train/go; do sleep 0.1; done"
    end = beside(fails, "output-gone", script, more=channel("overlay"))
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    (tmp_path / "out").write_text("not a folder")
    go.write_text("go")
    end()


def test_a_file_goes_before_it_is_copied(fails: Fails, data: Path, relay: Any) -> None:
    relay.before(A_NETWORK, (data / "b.csv").unlink)
    answer = fails("source-gone", "true", more={**HOSTS, **channel("copy")}, env={"DOCKER_HOST": relay.address})
    assert f"/{data.name}/b.csv (NoSuchKey" in answer["FailureReason"]


def test_the_whole_folder_goes_before_it_is_copied(fails: Fails, data: Path, relay: Any) -> None:
    relay.before(A_NETWORK, lambda: shutil.rmtree(data))
    fails("source-gone", "true", more={**HOSTS, **channel("copy")}, env={"DOCKER_HOST": relay.address})


def test_the_whole_folder_goes_before_the_engine_mounts_it(fails: Fails, data: Path, relay: Any) -> None:
    relay.before(AN_ATTACHMENT, lambda: shutil.rmtree(data))
    fails("source-gone-mounted", "true", more=channel("overlay"), env={"DOCKER_HOST": relay.address})


@pytest.mark.usefixtures("no_override")
def test_a_file_is_closed_before_it_is_copied(fails: Fails, data: Path, relay: Any) -> None:
    relay.before(A_NETWORK, lambda: (data / "b.csv").chmod(0))
    fails("source-denied", "true", more={**HOSTS, **channel("copy")}, env={"DOCKER_HOST": relay.address})


def test_a_file_becomes_a_fifo_before_it_is_copied(fails: Fails, data: Path, relay: Any) -> None:
    def replace() -> None:
        (data / "b.csv").unlink()
        os.mkfifo(data / "b.csv")

    relay.before(A_NETWORK, replace)
    fails("source-odd", "true", more={**HOSTS, **channel("copy")}, env={"DOCKER_HOST": relay.address})


@pytest.mark.slow(1)
def test_data_that_goes_during_training_ends_nothing(
    data: Path,
    tmp_path: Path,
    image: Callable[[str], str],
    docker: Callable[..., str],
    beside: Callable[..., Any],
    container: Callable[[str], str],
    smlocal_run: Callable[..., Any],
    assert_nothing_left: Callable[[str], None],
) -> None:
    def run(name: str) -> Any:
        script = "until [ -e /tmp/go ]; do sleep 0.1; done; cat /opt/ml/input/data/train/* || true"
        flags = ("--image", image("sh"), "--channel", "train=./data", "--env", f"SCRIPT={script}")
        return smlocal_run("run", *flags, "--name", name, "--staging", "overlay", "--json", cwd=tmp_path)

    end = beside(run, "gone-later")
    shutil.rmtree(data)
    docker("exec", container("gone-later"), "touch", "/tmp/go")
    done = end()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["Local"]["Leftovers"] == []
    assert_nothing_left("gone-later")
