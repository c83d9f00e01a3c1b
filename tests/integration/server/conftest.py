"""A server of a test's own, in a thread, on a free port and the home of the test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.answer_shapes import client_of

from smlocal.contract.identity import DEFAULT_ACCOUNT, DEFAULT_REGION
from smlocal.server.application import Application
from smlocal.server.hosts import Hosts
from smlocal.server.http_server import listen, make_server
from smlocal.server.serving import Rights, Serving
from smlocal.store.jobs import Store

_SECONDS_TO_END = 15


@dataclass(kw_only=True)
class Endpoint:
    """A running server."""

    serving: Serving
    said: list[str] = field(default_factory=list)
    """What it has told its owner."""

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
def running_endpoint(home: Path, *, rights: Rights | None = None) -> Iterator[Endpoint]:
    """Serve until the end of the block."""
    said: list[str] = []
    with listen("127.0.0.1", 0) as listener, Store.open(str(home)) as store:
        serving = Serving(
            store=store,
            buckets=f"{store.home}/buckets",
            account=DEFAULT_ACCOUNT,
            region=DEFAULT_REGION,
            address=f"http://127.0.0.1:{listener.getsockname()[1]}",
            log=said.append,
            rights=rights or Rights(),
        )
        server = make_server(Application(serving, hosts=Hosts(), signatures=None))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Endpoint(serving=serving, said=said)
        finally:
            server.should_exit = True
            thread.join(_SECONDS_TO_END)
            assert not thread.is_alive(), "the server does not end"
    assert not [message for message in said if "Traceback" in message], "\n".join(said)


@pytest.fixture
def make_endpoint(smlocal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`with make_endpoint(rights=…) as endpoint:` serves the home of the test, which `smlocal_run` uses too."""
    monkeypatch.setenv("SMLOCAL_HOME", str(smlocal_home))
    return lambda **settings: running_endpoint(smlocal_home, **settings)


@pytest.fixture
def endpoint(make_endpoint: Callable[..., Any]) -> Iterator[Endpoint]:
    """A server with the rights that everyone has."""
    with make_endpoint() as running:
        yield running
