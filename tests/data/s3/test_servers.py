"""The servers of the tests do what the tests believe of them."""

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.kit.s3_servers import S3Server


def test_what_was_put_is_there_after_a_crash(s3: S3Server) -> None:
    bucket = s3.make_bucket()
    etag = s3.put(bucket, "folder/käse +&.txt", b"cheese")
    s3.kill()
    with pytest.raises(EndpointConnectionError):
        s3.client().list_buckets()
    s3.restart()
    answer = s3.client().get_object(Bucket=bucket, Key="folder/käse +&.txt")
    assert (answer["Body"].read(), answer["ETag"]) == (b"cheese", etag)


def test_buckets_are_of_their_own(s3: S3Server) -> None:
    first, second = s3.make_bucket(), s3.make_bucket()
    s3.put(first, "key", b"data")
    assert "Contents" not in s3.client().list_objects_v2(Bucket=second)
