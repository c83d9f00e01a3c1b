"""Tokens of pages of logs. Those of GetLogEvents are positions, in the form that the service gives them."""

import re
from typing import Any

from smlocal.server.logs.errors import invalid_token
from smlocal.server.page_tokens import key_of

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


def read_key_token(token: str, *types: type) -> tuple[Any, ...]:
    """The key of the last item; it has these types."""
    try:
        return key_of(token, *types)
    except ValueError:
        raise invalid_token() from None
