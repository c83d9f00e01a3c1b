"""Where artifacts are sent, for each way to write it."""

import pytest

from smlocal.jobs.finish.publish import target_of

ARN = "arn:aws:s3:us-east-1:123456789012:accesspoint"


@pytest.mark.parametrize(
    ("uri", "bucket", "key"),
    [
        ("s3://b/some/key/", "b", "some/key/"),
        ("https://my-bucket.s3.amazonaws.com/some/key/", "my-bucket", "some/key/"),
        (f"s3://{ARN}/name/some/key/", f"{ARN}/name", "some/key/"),
        (f"s3://{ARN}:name/some/key/", f"{ARN}:name", "some/key/"),
        (f"s3://{ARN}/name/", f"{ARN}/name", ""),
    ],
)
def test_bucket_and_key(uri: str, bucket: str, key: str) -> None:
    place = target_of(uri, "kms")
    assert (place.bucket, place.key, place.kms_key) == (bucket, key, "kms")
