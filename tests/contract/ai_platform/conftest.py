"""Jobs of replicas that go on by themselves: looked at from outside, and killed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

from smlocal.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.jobs.finish.describe import describe_job

BUCKET = "/gcs/b"
"""Where the replicas find the folder of the test."""
Json = dict[str, Any]


@dataclass(kw_only=True)
class Replicas(Life):
    """One home with jobs of this platform. They share a bucket, which is a folder of the test."""

    bucket: Path

    def custom_job(self, name: str, *pools: tuple[int, str], spec: Json | None = None, **local: Any) -> Path:
        """A job whose pools have so many replicas, which carry out a script."""
        request = {
            "displayName": name,
            "jobSpec": {
                "workerPoolSpecs": [
                    {
                        "machineSpec": {"machineType": "n1-standard-4"},
                        "replicaCount": count,
                        "containerSpec": {"imageUri": self.image, "command": ["sh", "-c", script]},
                    }
                    for count, script in pools
                ],
                "baseOutputDirectory": {"outputUriPrefix": "gs://b"},
                **(spec or {}),
            },
        }
        return self._write(name, request, local)

    def training_job(self, name: str, script: str, **local: Any) -> Path:
        """A job of one master."""
        config = {"imageUri": self.image, "containerCommand": ["sh", "-c", script]}
        training = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": config}
        return self._write(name, {"jobId": name, "trainingInput": {**training, "jobDir": "gs://b"}}, local)

    def _write(self, name: str, request: Json, local: Json) -> Path:
        path = self.folder / f"{name}.json"
        settings = {"Sources": {"gs://b": str(self.bucket)}, "ErrorDelaySeconds": 0, "StopGraceSeconds": 1, **local}
        path.write_text(json.dumps({**request, "Local": settings}))
        return path

    def begin_job(self, file: Path) -> None:
        """Have it running, under the name of its file."""
        done = self("run", "--detach", "--name", file.stem, file)
        assert done.returncode == 0, done.stderr

    def begin_recorded(self, file: Path) -> None:
        """The same, but come back as soon as the job is recorded."""
        before = self.store.count()
        self.commands.append(self.begin("run", "--detach", "--name", file.stem, file))
        self.until(lambda: self.store.count() > before)

    def finished(self, name: str) -> Json:
        """The answer about a job that has ended."""
        self.until(lambda: self.job(name).status.terminal)
        answer: Json = describe_job(self.store, name)
        return answer

    def lifecycle(self, name: str) -> Json:
        """The stored state of a job's life; empty at its very beginning."""
        return self.store.document(name, LIFECYCLE) or {}

    def entries(self, name: str) -> list[Json]:
        entries: list[Json] = self.lifecycle(name).get("Entries", [])
        return entries

    def decisions(self, name: str, replica: str | None = None) -> list[tuple[Any, ...]]:
        """The events and decisions, of one replica or of the job."""
        of_it = [each for each in self.entries(name) if each.get("Replica") == replica]
        return [(each["Happened"], each.get("ExitCode"), each["Decision"]) for each in of_it]


@pytest.fixture
def replicas(
    tmp_path: Path, smlocal_home: Path, image: Callable[[str], str], docker: Callable[..., str]
) -> Iterator[Replicas]:
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    it = Replicas(folder=tmp_path, home=smlocal_home, image=image("sh"), bucket=bucket)
    try:
        yield it
    finally:
        it.close(docker)
