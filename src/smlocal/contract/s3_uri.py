"""The ways to write where an object of S3 is."""

_HOST = r"s3(?:[.-](?:dualstack\.)?[a-z]{2}(?:-[a-z]+)+-\d)?\.amazonaws\.com(?:\.cn)?"
_VIRTUAL = rf"https://(?P<bucket>[a-z0-9][a-z0-9.-]+)\.{_HOST}(?:/(?P<key>.*))?"
_PATH = rf"https://{_HOST}/(?P<bucket>[^/]+)(?:/(?P<key>.*))?"


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
