"""A request as a call of S3: which operation, bucket and key it means."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import Request

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.objects.s3_documents import S3CallError, not_emulated
from smlocal.endpoint.protocol.aws_names import DOMAINS, Scope
from smlocal.endpoint.protocol.models import service_model
from smlocal.endpoint.serving import Serving

_AWS_HOST = re.compile(
    r"(?:(.+)\.)?s3(?:-fips|-accelerate)?(?:[.-]dualstack)?(?:[.-][a-z]{2,}(?:-[a-z]+)+-\d)?"
    rf"\.(?:{'|'.join(map(re.escape, DOMAINS))})"
)
_LOCAL_HOST = re.compile(r"(.+)\.localhost")
_KEY_PLACES = ("/{Bucket}/{Key+}", "/{Bucket}", "/")
_ANY_CALL = ("x-id", "AWSAccessKeyId", "Signature", "Expires")
_OF_SIGNATURES = "x-amz-"
"""Members of the query of any call begin with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Call:
    """A client's request to S3."""

    serving: Serving
    request: Request
    operation: str
    """`PutObject`"""
    bucket: str
    """Empty for ListBuckets."""
    key: str
    query: Mapping[str, str]
    region: str
    signed: bool
    """False for an anonymous call."""

    def header(self, name: str) -> str | None:
        """A header of the request."""
        return self.request.headers.get(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Operation:
    """How S3's model recognises an operation."""

    name: str
    method: str
    place: str
    literals: frozenset[str]
    needed_query: frozenset[str]
    needed_headers: frozenset[str]
    known_query: frozenset[str]


def is_signed_v2(request: Request) -> bool:
    """True for a presigned address in the form that only S3 has: boto3 makes such addresses unless told otherwise."""
    return {"AWSAccessKeyId", "Signature"} <= request.query_params.keys()


def is_s3_host(host: str) -> bool:
    """True for AWS's names of S3, with a bucket in front or without."""
    return _AWS_HOST.fullmatch(host.partition(":")[0].lower()) is not None


def read_call(serving: Serving, request: Request, scope: Scope | None) -> S3Call:
    """The call; `S3CallError` if it is none, or one that is not emulated."""
    bucket, key = _place(request)
    query = dict(parse_qsl(request.url.query, keep_blank_values=True, max_num_fields=100))
    operation = _operation(request, query, place=_KEY_PLACES[0 if key else 1 if bucket else 2])
    return S3Call(
        serving=serving,
        request=request,
        operation=operation,
        bucket=bucket,
        key=key,
        query=query,
        region=serving.region if scope is None else scope.region,
        signed=scope is not None or is_signed_v2(request),
    )


def _place(request: Request) -> tuple[str, str]:
    """Bucket and key, of the host's name and the path."""
    host = request.headers.get("host", "").partition(":")[0].lower()
    named = _AWS_HOST.fullmatch(host) or _LOCAL_HOST.fullmatch(host)
    raw: bytes = request.scope["raw_path"]
    try:
        path = unquote_to_bytes(raw).decode().removeprefix("/")
    except UnicodeDecodeError:
        raise S3CallError("InvalidURI", "Couldn't parse the specified URI.") from None
    if named is not None and named[1] and named[1] != "s3":
        return named[1], path
    bucket, _, key = path.partition("/")
    return bucket, key


def _operation(request: Request, query: Mapping[str, str], *, place: str) -> str:
    possible = [
        each
        for each in _operations()
        if each.method == request.method
        and each.place == place
        and each.literals <= query.keys()
        and each.needed_query <= query.keys()
        and all(name in request.headers for name in each.needed_headers)
    ]
    if not possible:
        raise S3CallError("MethodNotAllowed", "The specified method is not allowed against this resource.")
    found = max(possible, key=lambda each: len(each.literals) + len(each.needed_query) + len(each.needed_headers))
    unknown = sorted(name for name in query.keys() - found.known_query if not _in_any_query(name))
    if unknown:
        raise not_emulated(f"?{unknown[0]} of {found.name}")
    return found.name


def _in_any_query(name: str) -> bool:
    return name in _ANY_CALL or name.lower().startswith(_OF_SIGNATURES)


@cache
def _operations() -> tuple[_Operation, ...]:
    return tuple(_read_operations())


def _read_operations() -> Iterator[_Operation]:
    model = service_model("s3")
    for name in model.operation_names:
        operation = model.operation_model(name)
        place, _, literals = operation.http["requestUri"].partition("?")
        if place not in _KEY_PLACES:
            continue
        shape = operation.input_shape
        members = {} if shape is None else shape.members
        named = {
            where: {
                member: each.serialization.get("name", member)
                for member, each in members.items()
                if each.serialization.get("location") == where
            }
            for where in ("querystring", "header")
        }
        needed = set() if shape is None else set(shape.required_members)
        words = frozenset(word.partition("=")[0] for word in literals.split("&") if word)
        yield _Operation(
            name=name,
            method=operation.http["method"],
            place=place,
            literals=words,
            needed_query=frozenset(wire for member, wire in named["querystring"].items() if member in needed),
            needed_headers=frozenset(wire for member, wire in named["header"].items() if member in needed),
            known_query=words | frozenset(named["querystring"].values()),
        )
