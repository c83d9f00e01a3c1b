"""Jobs on an engine at a socket of this machine that sees other folders, as in a container that has the socket."""

import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote.test_remote import channel
from tests.kit.life import Life
from tests.kit.own_engine import OwnEngine

from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import parse_address
from smlocal.engine.facts import SLOW
from smlocal.jobs.planning.aspects.engines.look_folders import with_folder_facts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a dockerd")

NOT_LINUX = Path(__file__).parents[2] / "kit" / "not_linux"
TWO: dict[str, Any] = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the engine does not see."""
    return tmp_path_factory.mktemp("unseen")


@pytest.fixture(scope="module")
def engine(unseen: Path, image: Callable[[str], str]) -> Iterator[OwnEngine]:
    engine = OwnEngine(hidden=(unseen,))
    try:
        engine.start()
        engine.load(image("sh"))
        yield engine
    finally:
        engine.close()


def make_life(folder: Path, engine: OwnEngine, tag: str) -> Life:
    folder.mkdir()
    return Life(folder=folder, home=folder / "home", image=tag, environment={"DOCKER_HOST": engine.address})


@pytest.fixture
def life(unseen: Path, engine: OwnEngine, image: Callable[[str], str], request: Any) -> Iterator[Life]:
    """Jobs whose home and data the engine does not see."""
    it = make_life(unseen / request.node.name, engine, image("sh"))
    yield it
    it.end()


def job_parts(life: Life) -> dict[str, Any]:
    for name in ("data", "code", "saved"):
        (life.folder / name).mkdir()
    (life.folder / "data" / "a").write_text("content\n")
    (life.folder / "code" / "own.sh").write_text("echo from the code\n")
    (life.folder / "saved" / "before").write_text("saved\n")
    return {
        "InputDataConfig": [channel("./data"), {**channel("./data", "FastFile"), "ChannelName": "fast"}],
        "CheckpointConfig": {"S3Uri": "./saved"},
        "Local": {"Code": "./code"},
    }


def file_system() -> dict[str, Any]:
    system = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "rw", "FileSystemType": "EFS"}
    return {"ChannelName": "t", "DataSource": {"FileSystemDataSource": {**system, "DirectoryPath": "/"}}}


@pytest.mark.slow(1)
def test_a_job_from_its_start_to_its_end_with_two_supervisors(life: Life, engine: OwnEngine) -> None:
    script = """
        cd /opt/ml; cat input/data/train/a input/data/fast/a checkpoints/before; sh code/own.sh
        echo changed >>input/data/train/a; echo new >checkpoints/after; echo m >model/m; mkdir -p output/data
        echo o >output/data/o; echo ready; until [ -e output/go ]; do sleep 0.05; done; echo gone on
        printf why >output/failure; exit 3
    """
    life.detach("unseen-whole", script, **job_parts(life))
    life.until_logged("unseen-whole", "ready")
    (container,) = engine.docker("ps", "--quiet").split()
    mounts = json.loads(engine.docker("inspect", "--format", "{{json .Mounts}}", container))
    assert {mount["Type"] for mount in mounts} == {"volume"}
    life.crash("unseen-whole")
    engine.docker("exec", container, "touch", "/opt/ml/output/go")
    done = life("recover")
    assert done.returncode == 0, done.stderr
    answer = life.describe("unseen-whole")
    assert (answer["TrainingJobStatus"], answer["FailureReason"]) == ("Failed", "AlgorithmError: why, exit code: 3")
    assert life.log("unseen-whole") == "content\ncontent\nsaved\nfrom the code\nready\ngone on\n"
    notes = {note["Id"]: note["Text"] for note in answer["Local"]["Notes"]}
    assert f"the engine at {engine.address} does not see the folders of this machine" in notes["engine-remote"]
    saved = life.folder / "saved"
    assert {each.name: each.read_text() for each in saved.iterdir()} == {"before": "saved\n", "after": "new\n"}
    with tarfile.open(life.folder / "out" / "unseen-whole" / "output" / "output.tar.gz") as archive:
        assert archive.getnames() == ["o"]
    assert (life.folder / "data" / "a").read_text() == "content\n"
    assert engine.docker("ps", "--all", "--quiet") == engine.docker("volume", "ls", "--quiet") == ""


@pytest.mark.slow(2)
def test_what_needs_folders_is_refused_and_the_rest_said(life: Life, engine: OwnEngine) -> None:
    parts = job_parts(life)
    life.job_file("unseen-said", "true", **parts)
    before = life("plan", "unseen-said.json", "--image", "none:at-all", "--json")
    notes = {note["Id"]: note["Text"] for note in json.loads(before.stdout)["Notes"]}
    assert "smlocal assumes that it does" in notes["engine-untried"]
    document = json.loads(life("plan", "unseen-said.json", "--json").stdout)
    assert {mount["Kind"] for mount in document["Hosts"][0]["Mounts"]} == {"send"}
    assert not document["Engine"]["SharesFolders"]
    sources = {"Local": {"Sources": {"fs-01234567": "./data"}}}
    sentence = "does not see the folders of this machine"
    for name, members, error in (
        ("unseen-pipe", {"InputDataConfig": [channel("./data", "Pipe")]}, "pipe-unreachable"),
        ("unseen-efs", {"InputDataConfig": [file_system()], **sources}, "engine-remote"),
        ("unseen-names", {"Local": {"Faults": [{"Kind": "LateNames", "AfterSeconds": 1}]}, **TWO}, "engine-remote"),
    ):
        refused = json.loads(life("run", life.job_file(name, "true", **members), "--json").stdout)["Error"]
        assert (refused["Id"], sentence in refused["Sentence"]) == (error, True), refused
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": life.image}}
    custom = {"workerPoolSpecs": [pool], "baseOutputDirectory": {"outputUriPrefix": "gs://b"}}
    (life.folder / "custom.json").write_text(json.dumps(custom))
    refused = json.loads(life("run", "custom.json", "--name", "unseen-custom", "--json").stdout)["Error"]
    assert (refused["Id"], "cannot mount it for the bucket" in refused["Sentence"]) == ("engine-remote", True), refused
    doctor = json.loads(life("doctor", "--json").stdout)["Doctor"]["Checks"]
    (overlay,) = [each["Sentence"] for each in doctor if each["Check"] == "overlay"]
    assert f"the engine does not see {life.home}" in overlay
    assert engine.docker("ps", "--all", "--quiet") == engine.docker("volume", "ls", "--quiet") == ""


@pytest.mark.slow(2)
def test_a_home_that_is_seen_and_data_that_is_not(
    engine: OwnEngine, unseen: Path, tmp_path: Path, image: Callable[[str], str]
) -> None:
    """As in a container that has a folder of its machine at the same path, and others that it has not."""
    hidden = make_life(tmp_path / "seen", engine, image("sh"))
    (hidden.folder / "data").mkdir()
    (hidden.folder / "data" / "a").write_text("seen\n")
    data = unseen / "data"
    data.mkdir()
    (data / "a").write_text("content\n")
    inputs = [
        {**channel(str(data)), "ChannelName": "file"},
        {**channel(str(data), "FastFile"), "ChannelName": "fast"},
        {**channel("./data"), "ChannelName": "seen"},
    ]
    script = "cd /opt/ml/input/data; cat file/a fast/a seen/a; touch fast/a 2>&- || echo ro; echo m >../../model/m"
    path = hidden.job_file("unseen-data", script, InputDataConfig=inputs, Local={"Code": str(data)})
    done = hidden("run", path, "--json")
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert hidden.log("unseen-data") == "content\ncontent\nseen\nro\n"
    staging = answer["Local"]["Hosts"][0]["Staging"]
    assert staging["/opt/ml/input/data/seen"] == "overlay"
    assert {staging["/opt/ml/input/data/file"], staging["/opt/ml/code"]} <= {"copy", "reflink"}
    notes = {note["Id"]: note["Text"] for note in answer["Local"]["Notes"]}
    assert f"the engine does not see {data}" in notes["staging-copied"]
    assert hidden.model("unseen-data") == ["m"]
    for folder, error in ((data, "engine-remote"), (hidden.folder / "data", None)):
        members: dict[str, Any] = {"InputDataConfig": [file_system()]}
        members["Local"] = {"Sources": {"fs-01234567": str(folder)}}
        path = hidden.job_file(f"unseen-efs-{folder.parent.name}", "cat /opt/ml/input/data/t/a", **members)
        done = hidden("run", path)
        assert done.returncode == (0 if error is None else 3), done.stderr
        assert error is None or f"does not see {folder}" in done.stderr
    assert [each.name for each in data.iterdir()] == [each.name for each in (hidden.folder / "data").iterdir()] == ["a"]
    assert engine.docker("ps", "--all", "--quiet") == engine.docker("volume", "ls", "--quiet") == ""
    hidden.end()


@pytest.mark.slow(5)
def test_a_job_needs_nothing_that_only_linux_has(life: Life, engine: OwnEngine) -> None:
    """Everything that smlocal does with such an engine could be done on macOS. It has not been tried there."""
    tried = life.folder / "tried"
    life.environment |= {"PYTHONPATH": str(NOT_LINUX), "NOT_LINUX": str(tried)}
    parts = job_parts(life)
    script = """
        cd /opt/ml; cat input/data/train/a input/data/fast/a checkpoints/before; sh code/own.sh
        echo new >checkpoints/after; echo m >model/m; echo o >output/data/o; echo t >tensors/t; echo loss=0.5
        echo ready
        until [ -e output/go ]; do sleep 0.05; done; echo done
    """
    parts["AlgorithmSpecification"] = {
        "TrainingImage": life.image,
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
    }
    parts["TensorBoardOutputConfig"] = {"S3OutputPath": "./tensors", "LocalPath": "/opt/ml/tensors"}
    life.detach("unseen-macos", script, **parts)
    life.until_logged("unseen-macos", "ready")
    (container,) = engine.docker("ps", "--quiet").split()
    life.crash("unseen-macos")
    engine.docker("exec", container, "touch", "/opt/ml/output/go")
    for command in (("recover",), ("logs", "unseen-macos"), ("jobs",), ("plan", "unseen-macos.json"), ("doctor",)):
        done = life(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    answer = life.describe("unseen-macos")
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert [each["MetricName"] for each in answer["FinalMetricDataList"]] == ["loss"]
    assert (life.folder / "saved" / "after").read_text() == "new\n"
    assert life.model("unseen-macos") == ["m"]
    short = life.job_file("unseen-macos-short", "printf why >/opt/ml/output/failure; exit 3", **TWO)
    assert "AlgorithmError: why, exit code: 3" in life("run", short).stderr
    done = life("rm", "unseen-macos")
    assert done.returncode == 0, done.stderr
    assert engine.docker("ps", "--all", "--quiet") == engine.docker("volume", "ls", "--quiet") == ""
    # The tables of mounts warn of folders that cannot be listed as they are. Without the tables there is no warning.
    # The driver of a GPU is looked for at each place that one may have.
    asked = {line for line in tried.read_text().splitlines() if line and not line.startswith(" ")}
    assert asked == {"open /proc/mounts", "open /proc/self/mountinfo", "stat /proc/driver/nvidia/version"}


@pytest.fixture
def slow_life(tmp_path: Path, engine: OwnEngine, image: Callable[[str], str]) -> Iterator[Life]:
    """A home that the engine sees through a slow file system."""
    assert engine.containerd is not None
    folder = tmp_path / "slow"
    folder.mkdir()
    there = ("nsenter", f"--mount=/proc/{engine.containerd.pid}/ns/mnt")
    with subprocess.Popen([*there, sys.executable, Path(__file__).with_name("slow_mount.py"), folder]) as mount:
        try:
            while str(folder) not in Path(f"/proc/{engine.containerd.pid}/mounts").read_text():
                assert mount.poll() is None
                time.sleep(0.01)
            environment = {"DOCKER_HOST": engine.address}
            life = Life(folder=folder, home=folder / "home", image=image("sh"), environment=environment)
            yield life
            life.end()
        finally:
            subprocess.run([*there, "umount", "--lazy", folder], check=False)
            mount.kill()


@pytest.mark.slow(1)
@pytest.mark.skipif(why_no_fuse() is not None, reason="needs FUSE")
def test_a_slow_mount_is_noted(slow_life: Life) -> None:
    life = slow_life
    life.job_file("unseen-slow", "cat /opt/ml/input/config/resourceconfig.json >/opt/ml/model/m")
    done = life("run", "unseen-slow.json", "--json")
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    (remembered,) = json.loads((life.home / "engines.json").read_text()).values()
    assert (remembered["SharesFolders"], remembered["SameMounts"]) == (True, False)
    assert remembered["Slowness"] > SLOW
    said = f"read small files of this machine {remembered['Slowness']:.0f} times as slowly as files of their own"
    assert said in {note["Id"]: note["Text"] for note in answer["Local"]["Notes"]}["folders-slow"]
    planned = " ".join(life("plan", "unseen-slow.json").stdout.split())
    assert said in planned


class Counting(DockerEngine):
    """Counts the containers."""

    made = 0

    def create(self, *given: Any, **named: Any) -> str:
        self.made += 1
        return super().create(*given, **named)


@pytest.mark.slow(1)
def test_it_is_tried_once_for_each_start_of_the_engine(life: Life, engine: OwnEngine, tmp_path: Path) -> None:
    asked = Counting(parse_address(engine.address, None))
    image = asked.image(life.image)

    def shares(home: Path) -> tuple[bool, int]:
        facts = with_folder_facts(asked.facts(), asked, image, str(home))
        return facts.shares_folders, asked.made

    life.home.mkdir(exist_ok=True)
    assert shares(life.home) == (False, 1)  # refused by the engine
    assert shares(life.home) == (False, 1)
    seen = tmp_path / "seen"
    seen.mkdir()
    assert shares(seen) == (True, 2)
    assert shares(seen) == (True, 2)
    engine.kill()
    engine.start()
    assert shares(seen) == (True, 3)
    assert [each.name for each in seen.iterdir()] == ["engines.json"]
    assert engine.docker("ps", "--all", "--quiet") == ""
