"""Where the next page of an answer begins, as a token that clients hand back: a server remembers no client."""

import base64
import json
from types import UnionType
from typing import Any


def token_of(*key: str | float) -> str:
    """A token that names the last item of a page by the key that pages are sorted by."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode()


def key_of(token: str, *kinds: type | UnionType) -> tuple[Any, ...]:
    """The key, whose parts are of these kinds; `ValueError` for a token that was not made of such a one."""
    if "+" in token or "/" in token:  # of another alphabet, which Python has taken for this one
        raise ValueError(token)
    try:
        key = json.loads(base64.urlsafe_b64decode(token))
    except RecursionError as error:
        raise ValueError(token) from error
    if not isinstance(key, list) or len(key) != len(kinds):
        raise ValueError(token)
    for part, kind in zip(key, kinds, strict=True):
        if not isinstance(part, kind) or isinstance(part, bool):
            raise ValueError(token)  # noqa: TRY004 - a client has sent it
        if isinstance(part, str):
            part.encode()  # SQLite refuses half a surrogate pair
    return tuple(key)
