"""Requests, answers and errors as the JSON protocols have them (`application/x-amz-json-1.1` and 1.0)."""

import base64
import json
import re
from typing import Any

from smlocal.server.call import ServiceError

_MAYBE_HALF = re.compile(rb"\\ud|\xed", re.IGNORECASE)


def decode(body: bytes) -> Any:
    """What the body of a request has; `ServiceError` if it is not JSON."""
    try:
        found = json.loads(body or b"{}")
        if _MAYBE_HALF.search(body):
            json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is no text: SQLite refuses it
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
