"""A server that generated requests are sent to."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.unit.endpoint.fuzz.asgi_client import Answer, ask
from tests.unit.report.conftest import BEGAN, StoredJob

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.http_server import listen
from smlocal.endpoint.serving import Options, open_serving
from smlocal.jobs.logs.log_file import ENTRY
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.terms.statuses import JobStatus

_HOSTS = tuple(f"algo-{number}" for number in range(1, 101))
_TOLD = "recorded, no effect; jobs start in the order of submission"
"""What the owner is told of members of valid requests that have no effect."""
_SERVER_ERROR = 500
_NOT_IMPLEMENTED = 501


@dataclass(kw_only=True)
class Asked:
    """A server, and what it has told its owner."""

    application: Application
    runner: asyncio.Runner
    said: list[str] = field(default_factory=list)

    def ask(self, **request: Any) -> Answer:
        answer = self.runner.run(ask(self.application, **request))
        wrong = [each for each in self.said if not each.endswith(_TOLD)]
        assert wrong == [], "\n".join(wrong)
        assert answer.status < _SERVER_ERROR or answer.status == _NOT_IMPLEMENTED, answer
        return answer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A server all of whose instances are in use, so that no other job ever starts."""
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    said: list[str] = []
    options = Options(limit=InstanceLimit(instances=len(_HOSTS)))
    with (
        listen("127.0.0.1", 0) as listener,
        open_serving(listener, log=said.append, options=options, environment={}) as serving,
        asyncio.Runner() as runner,
    ):
        (tmp_path / "home" / "buckets" / "bucket" / "data").mkdir(parents=True)
        (tmp_path / "home" / "buckets" / "bucket" / "data" / "file").touch()
        job = StoredJob(store=serving.store, name="running", hosts=_HOSTS)
        lease = job.create()
        job.train()
        job.log("algo-1", b"line 1\nline \xff\n" * 50)
        (job.directory / "logs" / "algo-1.times").write_bytes(
            b"".join(ENTRY.pack(14 * number, BEGAN + number) for number in range(50))
        )
        yield Asked(application=Application(serving, hosts=Hosts(), signatures=None), runner=runner, said=said)
        begun = [each for each in serving.store.list() if not each.pending and each.status is not JobStatus.STOPPED]
        assert [each.name for each in begun] == [job.name]
        lease.release()
