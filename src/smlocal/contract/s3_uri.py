"""The ways to write where an object of S3 is."""

import re

_HOST = r"s3(?:[.-](?:dualstack\.)?[a-z]{2}(?:-[a-z]+)+-\d)?\.amazonaws\.com(?:\.cn)?"
_VIRTUAL = re.compile(rf"https://(?P<bucket>[a-z0-9][a-z0-9.-]+)\.{_HOST}(?:/(?P<key>.*))?", re.DOTALL)
_PATH = re.compile(rf"https://{_HOST}/(?P<bucket>[^/]+)(?:/(?P<key>.*))?", re.DOTALL)


def s3_form(uri: str) -> str:
    """`https://` URIs of the public endpoints as `s3://bucket/key`, all else as it is.

    The path of such a URI is percent-encoded, that of `s3://` never.
    """
    match = _PATH.fullmatch(uri) or _VIRTUAL.fullmatch(uri)
    if match is None:
        return uri
    from urllib.parse import unquote  # hardly anybody writes them so

    return f"s3://{match['bucket']}/{unquote(match['key'] or '')}"
