"""Headers that keep a browser from doing anything with an answer but show it.

The page, S3 and all else are one origin for a browser: what a bucket has must never run in it.
"""

from starlette.responses import Response

_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
ALWAYS = {
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
FOR_DATA = {**ALWAYS, "content-security-policy": _POLICY}
"""For what clients and jobs have written: nothing in it is ever executed."""
_RAW_POLICY = b"content-security-policy"
_RAW = [(name.encode(), value.encode()) for name, value in FOR_DATA.items()]


def guarded(response: Response) -> Response:
    """The same answer, with a policy if it has none: only the page itself chooses another."""
    if not any(name == _RAW_POLICY for name, _ in response.raw_headers):
        response.raw_headers.extend(_RAW)
    return response
