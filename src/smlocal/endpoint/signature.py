"""Verifies signatures of version 4, where a server is reached by more than this machine."""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from enum import Enum
from http.client import HTTPMessage
from typing import Any

from botocore.auth import UNSIGNED_PAYLOAD, S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.requests import Request

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.protocol.aws_names import AWS_NAMES, Scope

_ALGORITHM = "AWS4-HMAC-SHA256"
_TIME = "%Y%m%dT%H%M%SZ"
_CLOCK = timedelta(minutes=15)
_LONGEST = timedelta(days=7)
"""A presigned address is valid no longer than this."""
_HEADER_PARTS = re.compile(r"SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})\s*$")
_SIGNATURE = "X-Amz-Signature"
_CONTENT = "x-amz-content-sha256"
_SIGNED_CHUNKS = "STREAMING-AWS4-"


class Problem(Enum):
    """Why a request is not answered: the codes of the JSON protocol, of the query protocol and of S3, and a message."""

    MISSING = (
        "MissingAuthenticationTokenException",
        "MissingAuthenticationToken",
        "AccessDenied",
        "Request is missing Authentication Token",
    )
    UNKNOWN_KEY = (
        "UnrecognizedClientException",
        "InvalidClientTokenId",
        "InvalidAccessKeyId",
        "The security token included in the request is invalid.",
    )
    INCOMPLETE = (
        "IncompleteSignatureException",
        "IncompleteSignature",
        "AccessDenied",
        "There were headers present in the request which were not signed, or a part of the signature is missing.",
    )
    WRONG = (
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "SignatureDoesNotMatch",
        (
            "The request signature we calculated does not match the signature you provided. Check your "
            "AWS Secret Access Key and signing method. Consult the service documentation for details."
        ),
    )
    CLOCK = (
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "RequestTimeTooSkewed",
        "The difference between the request time and the current time is too large.",
    )
    EXPIRED = (
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "AccessDenied",
        "Request has expired",
    )
    CHUNKS = (
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "NotImplemented",
        "smlocal does not emulate signatures of chunks where it verifies signatures.",
    )
    OLD = (
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "InvalidRequest",
        "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
    )

    def __init__(self, json_code: str, query_code: str, s3_code: str, message: str) -> None:
        """The parts of the value."""
        self.json_code = json_code
        self.query_code = query_code
        self.s3_code = s3_code
        self.message = message


@dataclass(frozen=True, kw_only=True, slots=True)
class Signatures:
    """The key that is accepted."""

    access_key: str
    secret_key: str
    others: bool = False
    """True if requests that are not signed with this key are answered too: the client is known by other means."""

    def problem(self, request: Request, scope: Scope | None, body: bytes | memoryview | None) -> Problem | None:
        """Why a request must not be answered; None if it was signed with the key, for now.

        `body` is None for S3, where the hash in a header was signed: the reader of the body compares it.
        """
        early = self.early_problem(request, scope)
        signed = _signed(request)
        if early is not None or scope is None or signed is None or not self._is_verified(request, scope):
            return early
        wrong = _unsigned(request, signed, body)
        if wrong is not None:
            return wrong
        expected = self._signature(request, scope, signed, body)
        return None if hmac.compare_digest(expected.encode(), signed.signature.encode()) else Problem.WRONG

    def early_problem(self, request: Request, scope: Scope | None) -> Problem | None:
        """What can be said before the body is read: whether the client knows the name of the key, and the time."""
        if not self._is_verified(request, scope):
            return None
        signed = _signed(request)
        if scope is None or signed is None:
            old = request.headers.get("authorization", "").startswith("AWS ") or "Signature" in request.query_params
            return Problem.OLD if old else Problem.MISSING
        if not hmac.compare_digest(scope.access_key.encode(), self.access_key.encode()):
            return Problem.UNKNOWN_KEY
        return _late(signed, scope, datetime.now(UTC))

    def _is_verified(self, request: Request, scope: Scope | None) -> bool:
        """False for a client that is known by other means, and does not sign with this key."""
        return not self.others or self._is_used(request, scope)

    def _is_used(self, request: Request, scope: Scope | None) -> bool:
        """True for a signature of version 4 with this key."""
        if scope is None or not hmac.compare_digest(scope.access_key.encode(), self.access_key.encode()):
            return False
        return not request.headers.get(_CONTENT, "").startswith(_SIGNED_CHUNKS)

    def _signature(self, request: Request, scope: Scope, signed: "_Signed", body: bytes | memoryview | None) -> str:
        """The signature that botocore would have made for the request."""
        service = AWS_NAMES.get(scope.service, scope.service)
        kind = _S3 if scope.service == "s3" else _Other
        signer = kind(Credentials(self.access_key, self.secret_key), service, scope.region)
        signer.names = signed.headers
        url = f"http://{request.headers.get('host', '')}{request.scope['raw_path'].decode('ascii')}"
        again = AWSRequest(
            method=request.method, url=f"{url}?{signed.query}" if signed.query else url, data=body or b""
        )
        for name, value in request.headers.items():
            again.headers[name] = value
        if signed.presigned:
            again.headers[_CONTENT] = request.headers.get(_CONTENT, UNSIGNED_PAYLOAD)
        again.context["timestamp"] = signed.time.strftime(_TIME)
        return str(signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Signed:
    """The signature in a request."""

    headers: frozenset[str]
    signature: str
    time: datetime
    query: str
    """Without the signature itself."""
    presigned: bool
    valid: timedelta


class _Chosen:
    """Signs the headers that the client has signed, whatever botocore would choose."""

    names: frozenset[str]

    def headers_to_sign(self, request: Any) -> HTTPMessage:
        message = HTTPMessage()
        for name in sorted(self.names):
            for value in request.headers.get_all(name, ()):
                message[name] = value
        return message


class _S3(_Chosen, S3SigV4Auth):  # type: ignore[misc] # botocore has no types
    pass


class _Other(_Chosen, SigV4Auth):  # type: ignore[misc] # botocore has no types
    pass


def _signed(request: Request) -> _Signed | None:
    """None if the request is not signed, or not completely."""
    query = request.query_params
    try:
        if _SIGNATURE in query:
            seconds = int(query["X-Amz-Expires"])
            raw = [pair for pair in request.url.query.split("&") if not pair.startswith(f"{_SIGNATURE}=")]
            if query["X-Amz-Algorithm"] != _ALGORITHM:
                return None
            return _Signed(
                headers=frozenset(query["X-Amz-SignedHeaders"].split(";")),
                signature=query[_SIGNATURE],
                time=_time(query["X-Amz-Date"]),
                query="&".join(raw),
                presigned=True,
                valid=timedelta(seconds=seconds),
            )
        stated = request.headers.get("authorization", "")
        parts = _HEADER_PARTS.search(stated)
        if parts is None or not stated.startswith(f"{_ALGORITHM} "):
            return None
        return _Signed(
            headers=frozenset(parts[1].split(";")),
            signature=parts[2],
            time=_time(request.headers["x-amz-date"]),
            query=request.url.query,
            presigned=False,
            valid=_CLOCK,
        )
    except (KeyError, ValueError, OverflowError):
        return None


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)


def _late(signed: _Signed, scope: Scope, now: datetime) -> Problem | None:
    if scope.day != signed.time.strftime("%Y%m%d"):
        return Problem.WRONG
    if signed.time - now > _CLOCK:
        return Problem.CLOCK
    if not timedelta(0) < signed.valid <= _LONGEST or now - signed.time > signed.valid:
        return Problem.EXPIRED if signed.presigned else Problem.CLOCK
    return None


def _unsigned(request: Request, signed: _Signed, body: bytes | memoryview | None) -> Problem | None:
    """The parts that the signature leaves open: headers of AWS that somebody could have added, or another body."""
    needed = {name for name in request.headers if name.startswith("x-amz-")}
    if "host" not in signed.headers or not needed <= signed.headers:
        return Problem.INCOMPLETE
    content = request.headers.get(_CONTENT)
    if content is not None and content.startswith(_SIGNED_CHUNKS):
        return Problem.CHUNKS
    if body is not None and content not in {None, hashlib.sha256(body).hexdigest()}:
        return Problem.WRONG
    return None
