"""The target of an attribute whose name ends in `-ref`."""

import pytest

from smlocal.data.channels.pipe.manifest import BadLineError, referenced
from smlocal.data.channels.pipe.object_bytes import LocalObject
from smlocal.data.sources.s3.interface import S3Object

ARN = "arn:aws:s3:us-east-1:123456789012:accesspoint"


@pytest.mark.parametrize("bucket", ["b", f"{ARN}/name", f"{ARN}:name"])
def test_an_object_in_s3_or_in_the_folder_that_is_mapped_to_it(bucket: str) -> None:
    uri = f"s3://{bucket}/some/key"
    assert referenced(uri, name="x-ref", sources={}, folder=None) == S3Object(bucket=bucket, key="some/key")
    mapped = referenced(uri, name="x-ref", sources={f"s3://{bucket}/some": "/d"}, folder=None)
    assert mapped == LocalObject(path="/d/key", uri=uri)
    with pytest.raises(BadLineError, match="has no S3 URI of an object as 'x-ref'"):
        referenced(f"s3://{bucket}/", name="x-ref", sources={}, folder=None)


@pytest.mark.parametrize("path", ["/etc/shadow", "file:///etc/shadow", "./beside", "~/key"])
def test_a_manifest_without_a_folder_names_no_files(path: str) -> None:
    with pytest.raises(BadLineError, match="has no S3 URI of an object as 'x-ref'"):
        referenced(path, name="x-ref", sources={}, folder=None)
