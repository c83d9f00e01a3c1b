"""Events in `application/vnd.amazon.eventstream`: the pieces of a streamed answer, or why it broke off."""

import json
import struct
from binascii import crc32
from typing import Final

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
_TEXT: Final = 7
"""The type of a header whose value is text."""
_PRELUDE: Final = 12
_CHECKSUM: Final = 4


def payload_part(content: bytes) -> bytes:
    """One piece of the container's answer."""
    headers = {":message-type": "event", ":event-type": "PayloadPart", ":content-type": "application/octet-stream"}
    return _message(headers, content)


def model_stream_error(code: str, message: str) -> bytes:
    """The container's answer has broken off."""
    headers = {
        ":message-type": "exception",
        ":exception-type": "ModelStreamError",
        ":content-type": "application/json",
    }
    return _message(headers, json.dumps({"Message": message, "ErrorCode": code}).encode())


def _message(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(_header(name.encode(), value.encode()) for name, value in headers.items())
    size = _PRELUDE + len(head) + len(payload) + _CHECKSUM
    prelude = struct.pack("!II", size, len(head))
    begun = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return begun + struct.pack("!I", crc32(begun))


def _header(name: bytes, value: bytes) -> bytes:
    return struct.pack("!B", len(name)) + name + struct.pack("!BH", _TEXT, len(value)) + value
