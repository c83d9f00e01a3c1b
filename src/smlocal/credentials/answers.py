"""What is asked for and what is answered: the credentials endpoint of the service, as far as its clients can see."""

import json
import secrets
from dataclasses import field
from hmac import compare_digest

from smlocal.quick_dataclass import dataclass

SERVER = "smlocal"
MOST_BYTES = 8192
"""Of a request's head."""
_WORDS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Secret:
    """What the containers of one job know and nobody else does."""

    path: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Goes with the address where that is said in full."""


def new_secret() -> Secret:
    """Of the service's own form."""
    return Secret(path=f"/v2/credentials/proxy-{secrets.token_hex(32)}-customer", token=secrets.token_urlsafe(32))


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The head of a request."""

    method: str
    path: str
    authorization: str = field(default="", repr=False)

    def knows(self, secret: Secret, *, with_token: bool) -> bool:
        """True for one of the job's own containers."""
        known = compare_digest(self.path.encode(), secret.path.encode())
        return known and (not with_token or compare_digest(self.authorization.encode(), secret.token.encode()))


def read_head(head: bytes) -> Asked | None:
    """Understand a request; None for what is none."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):  # noqa: PLR2004  method, target and version
        return None
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method=words[0], path=words[1].partition("?")[0], authorization=fields.get("authorization", ""))


def answer(status: int, body: bytes) -> bytes:
    """A whole answer."""
    head = (
        f"HTTP/1.1 {status} {_WORDS[status]}\r\nServer: {SERVER}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def refusal(status: int, code: str, message: str) -> bytes:
    """An answer that is none, in the form that clients log."""
    return answer(status, json.dumps({"code": code, "message": message, "HTTPErrorCode": status}).encode())


UNKNOWN = refusal(404, "InvalidIdInRequest", "CredentialsV2Request: ID not found")
MALFORMED = refusal(400, "BadRequest", "not a request for credentials")
