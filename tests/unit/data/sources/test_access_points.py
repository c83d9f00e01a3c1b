"""The ARN of an access point works wherever a bucket does."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources import source_errors
from smlocal.data.sources.channel import ChannelSource, InS3, list_channel, list_checkpoints
from smlocal.data.sources.s3.interface import ObjectStore, S3Error
from smlocal.data.sources.s3_listing import machine_error
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.errors import AwsConfigurationError, SourceEmptyError
from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import Listing

ARNS = [
    "arn:aws:s3:us-east-1:123456789012:accesspoint/name",
    "arn:aws:s3:us-east-1:123456789012:accesspoint:name",
    "arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/name",
]
CALLER = Caller(region="eu-west-1", role="arn:aws:iam::111122223333:role/r")


@pytest.fixture(params=ARNS)
def arn(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Asking:
    """An `ObjectStore` with one object under each prefix; remembers which bucket was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def list_objects(self, bucket: str, prefix: str) -> list[object]:
        from smlocal.data.sources.s3.interface import S3Object

        self.asked.append((bucket, prefix))
        return [S3Object(bucket=bucket, key=f"{prefix}a", size=1, etag='"e"')]


def in_s3(uri: str, store: Asking, kind: str = "S3Prefix") -> Listing:
    asked = ChannelSource(name="train", uri=uri, data_type=kind, mode="File", directory="/")
    opened: Callable[[], ObjectStore] = lambda: store  # type: ignore[assignment,return-value]  # noqa: E731  nothing but listing is asked
    return list_channel(asked, mapping={}, strict=False, region=CALLER.region, role=CALLER.role, store=opened)


def test_a_prefix_is_listed(arn: str) -> None:
    store = Asking()
    listing = in_s3(f"s3://{arn}/data/", store)
    assert store.asked == [(arn, "data/")]
    assert (listing.bucket, listing.key(0), listing.paths) == (arn, "data/a", ("a",))
    assert manifest(listing) == f"data/\ns3://{arn}/data/a\n".encode()


def test_a_mapped_prefix(arn: str, fill: Callable[..., Path], channel_of: Callable[..., Listing]) -> None:
    fill("train/a")
    for key, folder in ((f"s3://{arn}", "data"), (f"s3://{arn}/train", "data/train")):
        listing = channel_of(f"s3://{arn}/train/", {key: folder})
        assert (listing.paths, listing.prefix, listing.bucket) == (("a",), "train/", arn)
        assert listing.uri_at(0) == f"s3://{arn}/train/a"


def test_a_prefix_of_a_manifest(
    arn: str, fill: Callable[..., Path], channel_of: Callable[..., Listing], tmp_path: Path
) -> None:
    fill("a", "b")
    for prefix, names in ((f"s3://{arn}/", ["a", "b"]), (f"s3://{arn}", ["/a", "/b"])):
        (tmp_path / "manifest.json").write_text(json.dumps([{"prefix": prefix}, *names]))
        listing = channel_of("manifest.json", {f"s3://{arn}": "data"}, kind="ManifestFile")
        assert (listing.failure, listing.paths, listing.prefix) == (None, ("a", "b"), "")


def test_checkpoints(arn: str, fill: Callable[..., Path], tmp_path: Path) -> None:
    fill("run/a")
    here = list_checkpoints(
        f"s3://{arn}/ckpt/run", member="S3Uri", directory=str(tmp_path), mapping={f"s3://{arn}/ckpt": "data"}
    )
    assert (here.paths, here.key_base, here.bucket) == (("a",), "ckpt/run/", arn)
    store = Asking()
    opened: Callable[[], ObjectStore] = lambda: store  # type: ignore[assignment,return-value]  # noqa: E731  as above
    there = list_checkpoints(
        f"s3://{arn}/ckpt", member="S3Uri", directory="/", mapping={}, in_s3=InS3(store=opened, caller=CALLER)
    )
    assert store.asked == [(arn, "ckpt/")]
    assert there.uri_at(0) == f"s3://{arn}/ckpt/a"


def test_a_refusal_names_it(arn: str) -> None:
    asked = RequestedSource(subject="s", member="S3Uri", uri=f"s3://{arn}/data/", where=None, directory="/")
    error = source_errors.empty(asked, CALLER)
    assert isinstance(error, SourceEmptyError)
    assert f'permissions on bucket "{arn}".' in error.sentence


def test_a_package_that_an_access_point_needs() -> None:
    asked = RequestedSource(subject="s", member="S3Uri", uri="s3://b/", where=None, directory="/")
    error = machine_error(asked, S3Error("MissingDependency", "words of botocore", status=400))
    assert isinstance(error, AwsConfigurationError)
    assert "pip install 'smlocal[crt]'" in "".join(error.remedy)
