"""The image of smlocal itself, built from Dockerfile, and jobs that it runs through the mounted socket of an engine."""

import json
import os
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
SOCKET = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
TAG = f"smlocal-tool-of-a-test:{os.getpid()}"
BUILD = """
set -euo pipefail
. scripts/lib/setup.sh
. scripts/lib/bases.sh
from=$(see_to_requirements "$(see_to_base python)" "$locks/package.txt")
# With a name for the stage that makes the wheel, so that it can be removed.
build "$1-wheel" . --build-arg "BASE=$from" --target wheel
build "$1" . --build-arg "BASE=$from"
"""
pytestmark = [
    pytest.mark.slow(20, together=True),
    pytest.mark.skipif(not SOCKET.startswith("/"), reason="the engine has no socket that could be mounted"),
]
Tool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def built(docker: Callable[..., str]) -> Iterator[str]:
    command = ["bash", "-c", BUILD, "bash", TAG]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    yield TAG
    docker("rmi", "--force", TAG, f"{TAG}-wheel")


@pytest.fixture
def tool(built: str, tmp_path: Path) -> Tool:
    """Runs a command in the image, as docs/ci.md says."""

    def run(*arguments: str, home: str | None = None) -> "subprocess.CompletedProcess[str]":
        options = ["-v", f"{SOCKET}:/var/run/docker.sock", "-v", f"{tmp_path}:{tmp_path}", "-w", str(tmp_path)]
        options += [] if home is None else ["-e", f"SMLOCAL_HOME={home}"]
        command = ["docker", "run", "--rm", "--init", *options, built, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    return run


@pytest.fixture
def job_file(tmp_path: Path, image: Callable[[str], str]) -> str:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("content\n")
    channel = {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
    document = {
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "InputDataConfig": [channel],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 100},
        "Environment": {"SCRIPT": "cat /opt/ml/input/data/train/a; echo m >/opt/ml/model/m"},
    }
    (tmp_path / "job.json").write_text(json.dumps(document))
    return "job.json"


def test_it_has_this_version_and_nothing_of_the_build(tool: Tool) -> None:
    said = tool("smlocal", "--version")
    assert (said.returncode, said.stdout) == (0, f"smlocal {VERSION}\n"), said.stderr
    assert "Usage: smlocal" in tool().stdout
    assert "engine-unreachable" in tool("smlocal", "help", "engine-unreachable").stdout
    assert tool("ls", "/smlocal", "/wheel").stdout == ""


@pytest.mark.parametrize("shared", [False, True], ids=["sent", "mounted"])
def test_a_job_through_the_mounted_socket(
    shared: bool, tool: Tool, job_file: str, tmp_path: Path, assert_nothing_left: Callable[[str], None]
) -> None:
    """With its home in the container everything is sent to the engine; with one that the engine sees, it is mounted."""
    name = f"tool-image-{'mounted' if shared else 'sent'}"
    done = tool("smlocal", "run", job_file, "--name", name, "--json", home=str(tmp_path / "home") if shared else None)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    notes = {note["Id"] for note in answer["Local"]["Notes"]}
    assert ("engine-remote" in notes) is not shared
    assert (tmp_path / "out" / name / "output" / "model.tar.gz").exists()
    assert "content" in done.stderr
    assert_nothing_left(name)
