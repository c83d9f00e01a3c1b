"""Requests, answers and errors as the JSON protocols have them (`application/x-amz-json-1.1` and 1.0)."""

import base64
import json
from typing import Any

from smlocal.endpoint.call import ServiceError
from smlocal.terms.json_size import MOST_PARTS, too_large

_MOST_LEVELS = 50
"""The most levels of brackets. No valid call has half of them."""


def decode(body: bytes) -> Any:
    """The JSON of a request's body; `ServiceError` if it is not JSON, or too large to be looked at."""
    try:
        text = body.decode("utf-8-sig")
        beyond = too_large(text, parts=MOST_PARTS, levels=_MOST_LEVELS)
        if beyond is not None:
            what = f"more than {_MOST_LEVELS} levels" if beyond.deep else f"more than {MOST_PARTS:,} parts"
            raise ServiceError("SerializationException", f"The body has {what}, which no valid call has.")
        found = json.loads(text or "{}")
        if "\\ud" in text or "\\uD" in text:
            json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is not text: SQLite refuses it
    except (ValueError, RecursionError) as error:
        raise ServiceError("SerializationException", "The body is not JSON.") from error
    return found


def encode(answer: Any) -> bytes:
    """Times are numbers already: seconds since the epoch."""
    # ASCII: a log line may have half a surrogate pair.
    return json.dumps(answer, separators=(",", ":"), default=_encoded).encode()


def encode_error(error: ServiceError) -> bytes:
    """With the code in `__type`, where clients look for it."""
    return encode({"__type": error.code, "message": error.message, **error.details})


def _encoded(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)
