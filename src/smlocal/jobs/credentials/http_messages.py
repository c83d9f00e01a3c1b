"""Requests and responses of the credentials endpoint, as AWS clients see them on the service."""

import json
import os
import secrets
import socket
import struct
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import Credentials

SERVER = "smlocal"
MAX_HEAD_BYTES = 8192
"""The most bytes of the head of a request."""
ASSUMED_LIFETIME_SECONDS = 3600.0
"""The lifetime that clients are told of keys that never expire, so that they ask again."""
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Secret:
    """The secret that only the containers of one job know."""

    path: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Needed too if the containers are given a full URI instead of a path."""


def new_secret() -> Secret:
    """A path of the service's form."""
    return Secret(path=f"/v2/credentials/proxy-{secrets.token_hex(32)}-customer", token=secrets.token_urlsafe(32))


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestHead:
    """The head of a request."""

    method: str
    path: str
    authorization: str = field(default="", repr=False)

    def knows(self, secret: Secret, *, with_token: bool) -> bool:
        """True if it has the secret path and, if needed, the token."""
        known = compare_digest(self.path.encode(), secret.path.encode())
        return known and (not with_token or compare_digest(self.authorization.encode(), secret.token.encode()))


def read_head(head: bytes) -> RequestHead | None:
    """Parse the head of a request, without the empty line at its end; None if it is not HTTP."""
    from smlocal.base.web.messages import MessageError, take_head  # a job whose containers never ask needs none of it

    try:
        taken, _ = take_head(head + b"\r\n\r\n")
        if taken is None:
            return None
        taken.check_request()
    except MessageError:
        return None
    method, target, _ = taken.first
    authorization = taken.headers.get("authorization", "")
    return RequestHead(method=method, path=target.partition("?")[0], authorization=authorization)


def response(status: int, body: bytes) -> bytes:
    """A complete response."""
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nServer: {SERVER}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def error_response(status: int, code: str, message: str) -> bytes:
    """An error in the form that clients log."""
    return response(status, json.dumps({"code": code, "message": message, "HTTPErrorCode": status}).encode())


def credentials_response(keys: Credentials, role_arn: str, now: float) -> bytes:
    """The response that contains the keys."""
    expires = now + ASSUMED_LIFETIME_SECONDS if keys.expires is None else keys.expires
    document = {
        "RoleArn": role_arn,
        "AccessKeyId": keys.access_key,
        "SecretAccessKey": keys.secret_key,
        "Token": keys.token,
        "Expiration": datetime.fromtimestamp(expires, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return response(200, json.dumps(document).encode())


UNKNOWN = error_response(404, "InvalidIdInRequest", "CredentialsV2Request: ID not found")
MALFORMED = error_response(400, "BadRequest", "not a request for credentials")


# Passes a connection to the supervisor that it is for.
#
# Supervisors of one user share port 80, and the kernel gives each connection to any of them. Each supervisor also
# listens at an abstract Unix socket whose name is made from the path of its credentials.

_PEER = struct.Struct("3i")
"""Process, user and group of the other end."""
_TIMEOUT_SECONDS = 2.0


def listen_for_handovers(path: str) -> socket.socket:
    """The socket that takes connections for this path."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(_address(path))
        listener.listen(64)
    except BaseException:
        listener.close()
        raise
    return listener


def hand_over(path: str, connection: socket.socket, head: bytes) -> bool:
    """Pass on a connection and the request head that was read from it; False if no supervisor has this path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(_TIMEOUT_SECONDS)
        try:
            other.connect(_address(path))
            if not _is_same_user(other):
                return False
            socket.send_fds(other, [head], [connection.fileno()])
        except OSError:
            return False
    return True


def receive(listener: socket.socket) -> tuple[socket.socket, bytes] | None:
    """A connection that was handed over, with its request head; None if another user sent something."""
    with suppress(OSError):
        other, _ = listener.accept()
        with other:
            other.settimeout(_TIMEOUT_SECONDS)
            if not _is_same_user(other):
                return None
            head, descriptors, _, _ = socket.recv_fds(other, MAX_HEAD_BYTES, 1)
            if descriptors:
                return socket.socket(fileno=descriptors[0]), head
    return None


def _address(path: str) -> bytes:
    # Everyone can list these names, and the path is secret.
    return b"\0smlocal-credentials-" + sha256(path.encode()).hexdigest()[:40].encode()


def _is_same_user(other: socket.socket) -> bool:
    peer = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(peer)[1]) == os.geteuid()
