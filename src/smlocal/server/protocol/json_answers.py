"""Answers and errors as the JSON protocols have them (`application/x-amz-json-1.1` and 1.0)."""

import base64
import json
from typing import Any

from smlocal.server.call import ServiceError


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
