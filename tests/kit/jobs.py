"""Jobs whose channels are the point: a request of few words, run as a user would, and what its container said."""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.kit import Run
from tests.kit.fixtures import leftovers


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """The end of a job."""

    answer: dict[str, Any]
    exit: int
    stderr: str
    folder: Path

    @property
    def reason(self) -> str:
        return str(self.answer.get("FailureReason", ""))

    @property
    def notes(self) -> set[str]:
        return {note["Id"] for note in self.answer["Local"]["Notes"]}

    def log(self, host: str = "algo-1") -> str:
        paths = {each["Name"]: each["Log"] for each in self.answer["Local"]["Hosts"]}
        return Path(paths[host]).read_text(errors="backslashreplace")

    @property
    def log_is_empty(self) -> bool:
        """True when no container has written anything."""
        return all(host["Log"] is None for host in self.answer["Local"]["Hosts"])

    def model(self, name: str) -> bytes:
        with tarfile.open(self.answer["Local"]["Artifacts"]["Model"]) as archive:
            file = archive.extractfile(name)
            assert file is not None
            return file.read()


def channel(name: str = "train", uri: str = "./data", mode: str = "File", **more: Any) -> dict[str, Any]:
    """A channel of objects; members of its S3DataSource and its own are told apart by their names."""
    ours = {"ContentType", "CompressionType", "RecordWrapperType", "ShuffleConfig"}
    source = {key: value for key, value in more.items() if key not in ours}
    return {
        "ChannelName": name,
        "InputMode": mode,
        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri, **source}},
        **{key: value for key, value in more.items() if key in ours},
    }


@pytest.fixture
def job_file(tmp_path: Path, image: Callable[[str], str]) -> Callable[..., Path]:
    """Writes a job that runs a script on some channels."""

    def write(
        channels: Sequence[Mapping[str, Any]],
        script: str,
        *,
        runs: str = "sh",
        local: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> Path:
        request = {
            "TrainingJobName": f"channels-{uuid4().hex[:8]}",
            "AlgorithmSpecification": {"TrainingImage": image(runs), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            **({"InputDataConfig": list(channels)} if channels else {}),
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 240},
            **members,
            **({"Local": local} if local else {}),
        }
        path = tmp_path / f"{request['TrainingJobName']}.json"
        path.write_text(json.dumps(request))
        return path

    return write


@pytest.fixture
def run_job(
    job_file: Callable[..., Path],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
    tmp_path: Path,
) -> Callable[..., Ran]:
    """Runs such a job to its end and holds that nothing is left of it."""

    def run(
        channels: Sequence[Mapping[str, Any]],
        script: str,
        *,
        env: Mapping[str, str] | None = None,
        flags: Sequence[str] = (),
        **more: Any,
    ) -> Ran:
        path = job_file(channels, script, **more)
        done = smlocal_run("run", path.name, "--json", *flags, cwd=tmp_path, env=env)
        assert done.stdout, done.stderr
        answer = json.loads(done.stdout)
        assert "TrainingJobName" in answer, done.stdout + done.stderr
        assert_nothing_left(answer["TrainingJobName"])
        assert leftovers(answer) == []
        return Ran(answer=answer, exit=done.returncode, stderr=done.stderr, folder=tmp_path)

    return run


@dataclass(frozen=True, kw_only=True, slots=True)
class Background:
    """A job that runs beside the test."""

    process: "subprocess.Popen[str]"
    name: str
    home: Path

    def output(self) -> str:
        """The output of its container so far."""
        log = self.home / "jobs" / self.name / "logs" / "algo-1.log"
        return log.read_text(errors="backslashreplace") if log.exists() else ""

    def finish(self) -> dict[str, Any]:
        """Wait for it, and return what it answers."""
        out, err = self.process.communicate(timeout=240)
        assert out, err
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture
def background(smlocal_home: Path, tmp_path: Path) -> Iterator[Callable[..., Background]]:
    """Begins a job and comes back at once."""
    begun: list[Background] = []

    def begin(path: Path, env: Mapping[str, str] | None = None) -> Background:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
        process = subprocess.Popen(
            [sys.executable, "-m", "smlocal", "run", path.name, "--json"],
            cwd=tmp_path,
            env={**kept, "SMLOCAL_HOME": str(smlocal_home), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(Background(process=process, name=path.stem, home=smlocal_home))
        return begun[-1]

    yield begin
    for job in begun:
        job.process.terminate()
        job.process.communicate()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three objects: `a`, `b/c` and `d`."""
    folder = tmp_path / "data"
    (folder / "b").mkdir(parents=True)
    for name, text in {"a": "one\n", "b/c": "two\n", "d": "three\n"}.items():
        (folder / name).write_text(text)
    return folder
