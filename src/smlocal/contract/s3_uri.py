"""S3 URIs: the ways to write them, and where the bucket ends."""

_HOST = r"s3(?:[.-](?:dualstack\.)?[a-z]{2}(?:-[a-z]+)+-\d)?\.amazonaws\.com(?:\.cn)?"
_VIRTUAL = rf"https://(?P<bucket>[a-z0-9][a-z0-9.-]+)\.{_HOST}(?:/(?P<key>.*))?"
_PATH = rf"https://{_HOST}/(?P<bucket>[^/]+)(?:/(?P<key>.*))?"
_ACCESS_POINT = r"arn:[^:/]+:s3[a-z-]*:[^:/]*:[^:/]*:(?:outpost[:/][^:/]+[:/])?accesspoint[:/][^:/]+"
"""In place of a bucket: an access point, also of a multi-region, object-lambda or Outposts kind."""


def s3_form(uri: str) -> str:
    """`https://` URIs of the public endpoints as `s3://bucket/key`, all else as it is.

    The path of such a URI is percent-encoded, that of `s3://` never.
    """
    if not uri.startswith("https://"):
        return uri
    # Hardly anybody writes them so, and to compile the patterns takes milliseconds.
    import re
    from urllib.parse import unquote

    match = re.fullmatch(_PATH, uri, re.DOTALL) or re.fullmatch(_VIRTUAL, uri, re.DOTALL)
    return uri if match is None else f"s3://{match['bucket']}/{unquote(match['key'] or '')}"


def split_s3_uri(uri: str) -> tuple[str, str]:
    """Split `s3://bucket/some/key` into `s3://bucket/` and `some/key`.

    The ARN of an access point may stand in place of the bucket: `s3://arn:aws:s3:REGION:ACCOUNT:accesspoint/name/key`.
    """
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    if bucket.startswith("arn:"):
        import re  # as above

        arn = re.match(_ACCESS_POINT, rest)
        if arn is not None:
            bucket, key = arn[0], rest[arn.end() :].removeprefix("/")
    return f"{scheme}://{bucket}/", key


def bucket_name(bucket_uri: str) -> str:
    """The bucket's bare name, or the ARN in its place, for `s3://bucket/`."""
    return bucket_uri.partition("://")[2].rstrip("/")
