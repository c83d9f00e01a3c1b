"""A job in a store, as a run leaves it."""

import os
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.metrics.found_values import ValuesFile
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.jobs.usage.series import SeriesFile
from smlocal.jobs.usage.usage_watch import series_path
from smlocal.sagemaker.usage_block import MeasuredHost, usage_block
from smlocal.terms.statuses import COMPLETED, FAILED, JobPhase, JobStatus, PhaseMessage
from smlocal.terms.usage import Point

BEGAN = 1_790_000_000.0


@dataclass(kw_only=True)
class StoredJob:
    """One job. Each method stores what a run would; `end` comes last."""

    store: Store
    name: str
    hosts: tuple[str, ...] = ("algo-1",)
    request: dict[str, Any] = field(default_factory=dict)
    notes: tuple[dict[str, Any], ...] = ()
    local: dict[str, Any] = field(default_factory=dict)
    platform: str = "sagemaker"
    arn: str = ""

    @property
    def directory(self) -> Path:
        return Path(self.store.directory(self.name))

    def begin(self) -> None:
        self.create().release()
        self.train()

    def create(self) -> Lease:
        """Until the lease is released, the job counts as one that has a supervisor."""
        plan = {
            "Hosts": [{"Name": host, "InstanceType": "ml.m5.large"} for host in self.hosts],
            "Notes": list(self.notes),
        }
        documents = {"request": self.request, "plan": plan}
        return self.store.create(
            self.name,
            run_id="0" * 8,
            created=BEGAN,
            documents=documents,
            supervisor_pid=os.getpid(),
            arn=self.arn or f"arn:aws:sagemaker:us-east-1:000000000000:training-job/{self.name}",
            model_uri="file:///out/model.tar.gz",
            instances=len(self.hosts),
            platform=self.platform,
        )

    def train(self) -> None:
        self.phase(JobPhase.DOWNLOADING, PhaseMessage.DOWNLOADING_DATA, 0.2)
        self.phase(JobPhase.TRAINING, PhaseMessage.TRAINING, 0.5)

    def phase(self, secondary: JobPhase, message: str, after: float) -> None:
        self.store.transition(
            self.name,
            status=JobStatus.IN_PROGRESS,
            phase=secondary,
            message=message,
            at=BEGAN + after,
            start_training=secondary is JobPhase.DOWNLOADING,
        )

    def log(self, host: str, data: bytes) -> None:
        path = self.directory / "logs" / f"{host}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

    def values(self, values: Iterable[tuple[int, int, float | None, float]]) -> None:
        """Definition, host, seconds since the beginning, value."""
        file = ValuesFile(str(self.directory))
        for definition, host, after, value in values:
            file.add(definition, host, None if after is None else BEGAN + after, value)
        file._file.close()

    def used(self, host: str, points: Iterable[Point]) -> None:
        file = SeriesFile(series_path(str(self.directory), host))
        file.begin("c" * 12, BEGAN + 0.5)
        for point in points:
            file.add(point)

    def end(self, after: float, reason: str | None = None) -> None:
        self.phase(JobPhase.UPLOADING, PhaseMessage.UPLOADING, after - 0.1)
        ending = COMPLETED if reason is None else FAILED
        hosts = [MeasuredHost(name=host, instance_type="ml.m5.large") for host in self.hosts]
        local = {"Usage": usage_block(str(self.directory), hosts, machine_cpus=2), "Notes": list(self.notes)}
        self.store.put_document(self.name, "local", local | self.local)
        self.store.transition(
            self.name,
            status=ending.status,
            phase=ending.phase,
            message=ending.message,
            at=BEGAN + after,
            failure_reason=reason,
        )


@pytest.fixture
def store(tmp_path: Path) -> Iterable[Store]:
    with Store.open(str(tmp_path / "home")) as store:
        yield store


@pytest.fixture
def store_job(store: Store) -> Callable[..., StoredJob]:
    """Makes a running job; its data is stored by the methods of the result."""

    def begin(name: str = "my-tree", **about: Any) -> StoredJob:
        job = StoredJob(store=store, name=name, **about)
        job.begin()
        return job

    return begin


@pytest.fixture
def began() -> float:
    return BEGAN


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[Mapping[str, bytes]], str]:
    """An archive with these files."""

    def make(files: Mapping[str, bytes]) -> str:
        path = tmp_path / "model.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for name, content in files.items():
                header = tarfile.TarInfo(name)
                header.size = len(content)
                tar.addfile(header, BytesIO(content))
        return str(path)

    return make


@pytest.fixture
def point() -> Callable[..., Point]:
    """A moment of a container, so many seconds after the beginning."""

    def make(after: float, **numbers: Any) -> Point:
        nothing: dict[str, Any] = dict.fromkeys(
            ("disk_read", "disk_written", "network_received", "network_sent", "gpu_percent", "gpu_memory")
        )
        used = {"cpu_seconds": after, "cpu_cores": 1.0, "memory": 1 << 28, "memory_with_cache": 1 << 28}
        return Point(at=BEGAN + after, **(nothing | used | numbers))

    return make
