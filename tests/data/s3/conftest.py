"""Our own client of a real server, and a way to put trouble between the two."""

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.kit.s3_servers import S3Server, S3Servers, environment, opened

from smlocal.data.sources.s3.client import S3Client


@pytest.fixture(params=["moto", "rclone"])
def s3(request: pytest.FixtureRequest, s3_servers: S3Servers) -> S3Server:
    """Each of two real servers in turn."""
    server = s3_servers(request.param)
    server.forget()
    return server


@pytest.fixture
def store(s3: S3Server) -> Iterator[S3Client]:
    """Straight to the server."""
    # On a busy machine a server may take half a minute to come back.
    client = opened(s3.environment, retry_seconds=120)
    yield client
    client.close()


@pytest.fixture
def proxy(s3: Any) -> Iterator[TroubledProxy]:
    """Between client and server; does nothing until it is told."""
    with TroubledProxy(s3.port) as between:
        yield between


@pytest.fixture
def troubled(proxy: TroubledProxy) -> Iterator[S3Client]:
    """Through the proxy."""
    client = opened(environment(proxy.url), retry_seconds=120)
    yield client
    client.close()


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.make_bucket()


@pytest.fixture
def bytes_of() -> Callable[[int], bytes]:
    """Bytes that say where they are: a piece in the wrong place is noticed."""

    def make(size: int) -> bytes:
        return array("I", range((size + 3) // 4)).tobytes()[:size]

    return make
