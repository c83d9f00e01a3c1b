"""The forms of S3 URIs, and how to split them."""

import re
from urllib.parse import unquote

_HOST = r"s3(?:[.-](?:dualstack\.)?[a-z]{2}(?:-[a-z]+)+-\d)?\.amazonaws\.com(?:\.cn)?"
_VIRTUAL = rf"https://(?P<bucket>[a-z0-9][a-z0-9.-]+)\.{_HOST}(?:/(?P<key>.*))?"
_PATH = rf"https://{_HOST}/(?P<bucket>[^/]+)(?:/(?P<key>.*))?"
_ACCESS_POINT = r"arn:[^:/]+:s3[a-z-]*:[^:/]*:[^:/]*:(?:outpost[:/][^:/]+[:/])?accesspoint[:/][^:/]+"
"""An access point instead of a bucket, also a multi-region, Object Lambda or Outposts one."""


_BUCKET = r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]"
"""Old buckets may have names that new ones may not."""


def may_be_bucket(name: str) -> bool:
    """False for anything but the name of a bucket or the ARN of an access point."""
    return re.fullmatch(f"{_BUCKET}|{_ACCESS_POINT}", name, re.ASCII) is not None


def s3_form(uri: str) -> str:
    """Convert an `https://` URI of a public endpoint to `s3://bucket/key`; other texts are returned unchanged.

    The path of an `https://` URI is percent-encoded, that of an `s3://` URI never.
    """
    if not uri.startswith("https://"):
        return uri
    # This form is rare, and compiling the patterns takes milliseconds.

    match = re.fullmatch(_PATH, uri, re.DOTALL) or re.fullmatch(_VIRTUAL, uri, re.DOTALL)
    return uri if match is None else f"s3://{match['bucket']}/{unquote(match['key'] or '')}"


def split_s3_uri(uri: str) -> tuple[str, str]:
    """Split `s3://bucket/some/key` into `s3://bucket/` and `some/key`.

    The bucket may be the ARN of an access point: `s3://arn:aws:s3:REGION:ACCOUNT:accesspoint/name/key`.
    """
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    if bucket.startswith("arn:"):
        arn = re.match(_ACCESS_POINT, rest)
        if arn is not None:
            bucket, key = arn[0], rest[arn.end() :].removeprefix("/")
    return f"{scheme}://{bucket}/", key


def bucket_name(bucket_uri: str) -> str:
    """The name, or the ARN, in `s3://bucket/`."""
    return bucket_uri.partition("://")[2].rstrip("/")
