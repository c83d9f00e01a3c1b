"""The text after `Data download failed:`, letter by letter where a real one was seen."""

import pytest

from smlocal.data.sources.s3.error_responses import download_failure
from smlocal.data.sources.s3.interface import S3Error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            S3Error("AccessDenied", "Access Denied", status=403, uri="s3://b/k", operation="GetObject"),
            "Unable to download object s3://b/k (AccessDenied: Access Denied)",
        ),
        (
            S3Error("Forbidden", "Forbidden", status=403, uri="s3://b/k", operation="HeadObject"),
            "failed to download data. 403 Forbidden (403): Forbidden",
        ),
        (
            S3Error("RequestError", "Unable to execute request to S3: no", uri="s3://b/p", operation="ListObjectsV2"),
            "Failed to download data. ListObjectsV2 failed for s3://b/p : Unable to execute request to S3",
        ),
        (
            S3Error("AccessDenied", "Access Denied", status=403, uri="s3://b/p", operation="ListObjectsV2"),
            "Failed to download data. ListObjectsV2 failed for s3://b/p : AccessDenied: Access Denied",
        ),
        (
            S3Error("RequestError", "Unable to execute request to S3: no", uri="s3://b/k", operation="GetObject"),
            "Unable to download object s3://b/k (RequestError: Unable to execute request to S3: no)",
        ),
        (
            S3Error("NoSuchKey", "The specified key does not exist.", status=404, uri="s3://b/k"),
            "Unable to download object s3://b/k (NoSuchKey: The specified key does not exist.)",
        ),
    ],
)
def test_the_service_says(error: S3Error, words: str) -> None:
    assert download_failure(error) == words
