"""A server of a test's own, in a thread, on a free port and the home of the test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.kit.answer_shapes import client_of

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.endpoint.serving import Options, Serving, open_serving
from smlocal.endpoint.signature import Signatures
from smlocal.jobs.store.jobs import Store


@dataclass(kw_only=True)
class Endpoint:
    """A running server."""

    serving: Serving
    said: list[str] = field(default_factory=list)
    """The messages to its owner."""

    @property
    def address(self) -> str:
        return self.serving.address

    @property
    def store(self) -> Store:
        return self.serving.store

    def client(self, service: str, **config: Any) -> Any:
        """A client of boto3's. Every answer is held to botocore's model."""
        return client_of(self.address, service, **config)


@contextmanager
def running_endpoint(*, options: Options | None = None, signatures: Signatures | None = None) -> Iterator[Endpoint]:
    """Serve until the end of the block."""
    said: list[str] = []
    with (
        listen("127.0.0.1", 0) as listener,
        open_serving(listener, log=said.append, options=options, environment={}) as serving,
        HttpServer(Application(serving, hosts=Hosts(), signatures=signatures), listener) as server,
    ):
        yield Endpoint(serving=serving, said=said)
    assert server.failed is None
    assert not [message for message in said if "Traceback" in message], "\n".join(said)


@pytest.fixture
def make_endpoint(smlocal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`with make_endpoint(options=…) as endpoint:` serves the home of the test, which `smlocal_run` uses too."""
    monkeypatch.setenv("SMLOCAL_HOME", str(smlocal_home))
    return running_endpoint


@pytest.fixture
def endpoint(make_endpoint: Callable[..., Any]) -> Iterator[Endpoint]:
    """A server with the rights that everyone has."""
    with make_endpoint() as running:
        yield running
