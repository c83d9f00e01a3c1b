"""Tokens of pages: a position to go on from, so that a server needs no memory of its clients."""

import base64
import json
import re
from typing import Any

from smlocal.server.logs.errors import invalid_token

_POSITION = re.compile(r"(?P<direction>[fb])/(?P<position>\d{20})/s", re.ASCII)


def position_token(direction: str, position: int) -> str:
    """A token of GetLogEvents: `f` goes forward from a position of the log, `b` backward."""
    return f"{direction}/{position:020d}/s"


def read_position_token(token: str) -> tuple[str, int]:
    """The direction and the position."""
    found = _POSITION.fullmatch(token)
    if found is None:
        raise invalid_token()
    return found["direction"], int(found["position"])


def key_token(*key: str | int) -> str:
    """A token that names the last item of a page by the key that pages are sorted by."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode()


def read_key_token(token: str, *types: type) -> tuple[Any, ...]:
    """The key of the last item; it has these types."""
    try:
        key = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (ValueError, RecursionError):
        raise invalid_token() from None
    if not isinstance(key, list) or [type(each) for each in key] != list(types):
        raise invalid_token()
    return tuple(key)
