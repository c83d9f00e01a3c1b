"""Our own client of a real server, and a way to put trouble between the two."""

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.integration.s3.troubled_proxy import TroubledProxy
from tests.integration.s3_servers import REGION, S3Server, environment

from smlocal.sources.s3.client import S3Client
from smlocal.sources.s3.settings import load_settings


@pytest.fixture
def store(s3: S3Server) -> Iterator[S3Client]:
    """Straight to the server."""
    # On a busy machine a server may take half a minute to come back.
    client = S3Client(load_settings(REGION, s3.environment), patience=120)
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
    client = S3Client(load_settings(REGION, environment(proxy.url)), patience=20)
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
