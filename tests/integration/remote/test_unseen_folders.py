"""Jobs on an engine at a socket of this machine that sees other folders, as in a container that has the socket."""

import json
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.life.conftest import Life
from tests.integration.own_engine import OwnEngine
from tests.integration.remote.test_remote import channel

from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import parse_address
from smlocal.job.prepare.shared_folders import with_folder_facts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a dockerd")

TWO = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}


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


def test_what_needs_folders_is_refused_and_the_rest_said(life: Life, engine: OwnEngine) -> None:
    parts = job_parts(life)
    life.job_file("unseen-said", "true", **parts)
    before = life("plan", "unseen-said.json", "--image", "none:at-all", "--json")
    notes = {note["Id"]: note["Text"] for note in json.loads(before.stdout)["Notes"]}
    assert "smlocal assumes that it does" in notes["engine-untried"]
    document = json.loads(life("plan", "unseen-said.json", "--json").stdout)
    assert {mount["Kind"] for mount in document["Hosts"][0]["Mounts"]} == {"send"}
    assert not document["Engine"]["SharesFolders"]
    system = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "rw", "FileSystemType": "EFS"}
    mounted = {"ChannelName": "t", "DataSource": {"FileSystemDataSource": {**system, "DirectoryPath": "/"}}}
    sources = {"Local": {"Sources": {"fs-01234567": "./data"}}}
    sentence = "does not see the folders of this machine"
    for name, members, error in (
        ("unseen-pipe", {"InputDataConfig": [channel("./data", "Pipe")]}, "pipe-unreachable"),
        ("unseen-efs", {"InputDataConfig": [mounted], **sources}, "engine-remote"),
        ("unseen-names", {"Local": {"Faults": [{"Kind": "LateNames", "AfterSeconds": 1}]}, **TWO}, "engine-remote"),
    ):
        refused = json.loads(life("run", life.job_file(name, "true", **members), "--json").stdout)["Error"]
        assert (refused["Id"], sentence in refused["Sentence"]) == (error, True), refused
    doctor = json.loads(life("doctor", "--json").stdout)["Doctor"]["Checks"]
    (overlay,) = [each["Sentence"] for each in doctor if each["Check"] == "overlay"]
    assert f"the engine does not see {life.home}" in overlay
    assert engine.docker("ps", "--all", "--quiet") == engine.docker("volume", "ls", "--quiet") == ""


class Counting(DockerEngine):
    """Counts the containers."""

    made = 0

    def create(self, *given: Any, **named: Any) -> str:
        self.made += 1
        return super().create(*given, **named)


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
