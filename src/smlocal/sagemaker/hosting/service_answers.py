"""What the service makes of messages: requests to a container, and answers to a client. Pure, but for their ids."""

import json
import random
from collections.abc import Mapping
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.base.web import FOR_DATA, SMALL
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.route import AnswerError

_PHRASES: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    413: "Request Entity Too Large",
    424: "Failed Dependency",
    503: "Service Unavailable",
}
FORBIDDEN, LATE, TOO_LARGE = 403, 408, 413
_GUARDS: Final = "".join([f"{name}: {value}\r\n" for name, value in FOR_DATA.items()])
"""A browser must do nothing with what a container has written."""
_REQUEST: Final = f"POST /invocations HTTP/1.1\r\nHost: localhost:{facts.PORT}\r\nContent-Length: "
_HEADER: Final = regex(r"[\x20-\x7e\t]*")
_RETURNABLE: Final = regex(r"[\x20-\x7e\x80-\xff\t]*")
"""A header that can be passed on: a container may send others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What the answers name."""

    endpoint: str
    variant: str
    region: str
    account: str


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Those of a client that the service passes on."""
    found = {name: value for name, value in headers.items() if name in facts.PASSED}
    for name, value in found.items():
        if len(value) > facts.MOST_HEADER or not _HEADER.fullmatch(value):
            raise validation_error(f"the header {name} is longer than {facts.MOST_HEADER} characters, or not of ASCII")
    return found


def container_request(headers: Mapping[str, str], body: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    """A whole request to a container, in one piece unless it is large."""
    lines = "".join([f"\r\n{name}: {value}" for name, value in headers.items()])
    head = f"{_REQUEST}{len(body)}{lines}\r\n\r\n".encode("latin-1")
    return (head + body,) if len(body) <= SMALL else (head, body)


def answer_head(variant: str, headers: Mapping[str, str], framing: str) -> bytes:
    """The head of an answer that passes on that of a container. `framing`: the line about its length."""
    returned = "".join(
        [
            f"\r\n{facts.RETURNED[name]}: {value}"
            for name, value in headers.items()
            if name in facts.RETURNED and _RETURNABLE.fullmatch(value)
        ]
    )
    return (
        f"HTTP/1.1 200 OK\r\nx-amzn-RequestId: {_request_id()}\r\n{facts.INVOKED_VARIANT}: {variant}{returned}"
        f"\r\n{_GUARDS}{framing}\r\n\r\n"
    ).encode("latin-1")


def error_answer(error: AnswerError, *, last: bool = False) -> bytes:
    """A whole answer that is an error of the service. `last`: no other follows on this connection."""
    body = json.dumps(error.document).encode()
    framing = ("Connection: close\r\n" if last else "") + f"Content-Length: {len(body)}"
    return (
        f"HTTP/1.1 {error.status} {_PHRASES[error.status]}\r\nx-amzn-RequestId: {_request_id()}\r\n"
        f"x-amzn-ErrorType: {error.kind}\r\nContent-Type: application/json\r\n{_GUARDS}{framing}\r\n\r\n"
    ).encode("latin-1") + body


def validation_error(message: str) -> AnswerError:
    """The request is not valid."""
    return AnswerError(400, "ValidationError", {"Message": message})


def too_large(size: int, most: int) -> AnswerError:
    """The request has too many bytes."""
    message = f"Request {size} has exceeded the upper limit of {most} bytes."
    return AnswerError(TOO_LARGE, "ValidationError", {"Message": message})


def model_error(about: Identity, *, status: int, message: str, container: str = facts.PRIMARY) -> AnswerError:
    """A container has answered with an error; `status` 0: or not at all."""
    where = {"region": about.region, "account": about.account}
    document = {
        "ErrorCode": "CLIENT_ERROR_FROM_MODEL" if 400 <= status < 500 else "INTERNAL_FAILURE_FROM_MODEL",  # noqa: PLR2004 - HTTP
        "LogStreamArn": facts.log_stream_arn(about.endpoint, **where),
        "Message": facts.model_error(about.endpoint, status=status, message=message, called=container, **where),
        "OriginalMessage": message,
        "OriginalStatusCode": status,
    }
    return AnswerError(424, "ModelError", document)


def _request_id() -> str:
    """Only to tell requests apart: no call to the kernel for each."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
