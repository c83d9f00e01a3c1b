"""Channels listed from two real S3 servers."""

from collections.abc import Callable, Iterator

import pytest
from tests.kit.s3_servers import REGION, S3Server, S3Servers, opened

from smlocal.data.sources.channel import ChannelSource, list_channel
from smlocal.data.sources.s3.client import S3Client
from smlocal.terms.listing import Listing

ROLE = "arn:aws:iam::111122223333:role/r"


@pytest.fixture(params=["moto", "rclone"])
def s3(request: pytest.FixtureRequest, s3_servers: S3Servers) -> S3Server:
    """Each of two real servers in turn."""
    server = s3_servers(request.param)
    server.forget()
    return server


@pytest.fixture
def store(s3: S3Server) -> Iterator[S3Client]:
    client = opened(s3.environment, retry_seconds=20)
    yield client
    client.close()


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.make_bucket()


@pytest.fixture
def channel_of(store: S3Client) -> Callable[..., Listing]:
    """Lists a channel, in S3 or where a mapping says."""

    def make(
        uri: str,
        mapping: dict[str, str] | None = None,
        *,
        kind: str = "S3Prefix",
        mode: str = "File",
        strict: bool = False,
        client: S3Client = store,
    ) -> Listing:
        asked = ChannelSource(name="train", uri=uri, data_type=kind, mode=mode, directory="/")
        return list_channel(asked, mapping=mapping or {}, strict=strict, region=REGION, role=ROLE, store=lambda: client)

    return make
