"""Operations on buckets."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from smlocal.endpoint.objects.bucket_folder import Bucket, bucket_names, check_bucket_name, create_bucket
from smlocal.endpoint.objects.listing import FoundObject, Page, page
from smlocal.endpoint.objects.received import read_document
from smlocal.endpoint.objects.s3_call import S3Call
from smlocal.endpoint.objects.s3_documents import S3CallError, document, moment, parsed
from smlocal.endpoint.page_tokens import key_of, token_of

_MOST_ON_A_PAGE = 1000
_NO_CONSTRAINT = "us-east-1"


def folder(call: S3Call) -> Bucket:
    """The bucket of a call; `S3CallError` if there is none, or it is not of whom the client expects."""
    found = Bucket(call.serving.buckets, call.bucket)
    if call.header("x-amz-expected-bucket-owner") not in {None, call.serving.account}:
        raise S3CallError("AccessDenied", "Access Denied")
    return found


async def list_buckets(call: S3Call) -> Response:
    """All folders whose names may be buckets'."""
    root, prefix = call.serving.buckets, call.query.get("prefix", "")
    most = number(call, "max-buckets", 10_000)
    after = _last_of(call.query.get("continuation-token"))
    names = [name for name in await run_in_threadpool(bucket_names, root) if name.startswith(prefix) and name > after]
    members = {
        "Buckets": {"Bucket": [_bucket(call, name) for name in names[:most]]},
        "Owner": _owner(call),
        "ContinuationToken": token_of(names[most - 1]) if most and len(names) > most else None,
        "Prefix": prefix or None,
    }
    return xml("ListAllMyBucketsResult", members)


async def create(call: S3Call) -> Response:
    """A new folder."""
    check_bucket_name(call.bucket)
    body = await read_document(call.request)
    if body:
        await run_in_threadpool(parsed, body)
    try:
        await run_in_threadpool(create_bucket, call.serving.buckets, call.bucket)
    except FileExistsError:
        if call.region != _NO_CONSTRAINT:
            raise S3CallError(
                "BucketAlreadyOwnedByYou",
                "Your previous request to create the named bucket succeeded and you already own it.",
                BucketName=call.bucket,
            ) from None
    return Response(headers={"location": f"/{call.bucket}"})


async def head(call: S3Call) -> Response:
    """Whether there is a bucket."""
    folder(call)
    return Response(headers={"x-amz-bucket-region": call.region})


async def delete(call: S3Call) -> Response:
    """Remove an empty folder."""
    await run_in_threadpool(folder(call).delete)
    return Response(status_code=204)


async def get_location(call: S3Call) -> Response:
    """A folder has no region: it is in the caller's."""
    folder(call)
    region = "" if call.region == _NO_CONSTRAINT else call.region
    return xml("LocationConstraint", region)


async def list_objects(call: S3Call) -> Response:
    """Version 1: the next page begins after a key."""
    marker = call.query.get("marker", "")
    found, shared = await _listed(call, marker)
    more = found.last is not None
    after = {"Marker": _encoded(call, marker), "NextMarker": _encoded(call, found.last) if more else None}
    if "delimiter" not in call.query:
        del after["NextMarker"]
    return xml("ListBucketResult", {**shared, **after, "IsTruncated": more})


async def list_objects_v2(call: S3Call) -> Response:
    """Version 2: the next page begins after a token."""
    token, start = call.query.get("continuation-token"), call.query.get("start-after", "")
    found, shared = await _listed(call, start if token is None else _last_of(token))
    return xml(
        "ListBucketResult",
        {
            **shared,
            "KeyCount": len(found.objects) + len(found.prefixes),
            "ContinuationToken": token,
            "StartAfter": _encoded(call, start) if start else None,
            "NextContinuationToken": None if found.last is None else token_of(found.last),
            "IsTruncated": found.last is not None,
        },
    )


async def _listed(call: S3Call, after: str) -> tuple[Page, dict[str, Any]]:
    most = min(number(call, "max-keys", _MOST_ON_A_PAGE), _MOST_ON_A_PAGE)
    if call.query.get("encoding-type", "url") != "url":
        raise S3CallError("InvalidArgument", "Invalid Encoding Method specified in Request")
    return await run_in_threadpool(_list, call, after, most)


def _list(call: S3Call, after: str, most: int) -> tuple[Page, dict[str, Any]]:
    bucket = folder(call)
    prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
    if most:
        found = page(bucket, prefix=prefix, delimiter=delimiter, after=after, most=most)
    else:
        found = Page(objects=[], prefixes=[], last=None)
    owner = _owner(call) if call.operation == "ListObjects" or call.query.get("fetch-owner") == "true" else None
    return found, {
        "Name": call.bucket,
        "Prefix": _encoded(call, prefix),
        "Delimiter": _encoded(call, delimiter) if delimiter else None,
        "MaxKeys": most,
        "EncodingType": call.query.get("encoding-type"),
        "Contents": [_object(call, bucket, each, owner) for each in found.objects],
        "CommonPrefixes": [{"Prefix": _encoded(call, each)} for each in found.prefixes],
    }


def _object(call: S3Call, bucket: Bucket, found: FoundObject, owner: Mapping[str, str] | None) -> dict[str, Any]:
    return {
        "Key": _encoded(call, found.key),
        "LastModified": moment(found.modified),
        "ETag": f'"{bucket.attributes.read(found.key, found.state).etag}"',
        "Size": found.state.st_size,
        "Owner": owner,
        "StorageClass": "STANDARD",
    }


def _encoded(call: S3Call, text: str | None) -> str:
    return quote(text or "", safe="/~") if "encoding-type" in call.query else text or ""


def _bucket(call: S3Call, name: str) -> dict[str, Any]:
    made = os.stat(os.path.join(call.serving.buckets, name)).st_mtime
    return {"Name": name, "CreationDate": moment(made), "BucketRegion": call.region}


def _owner(call: S3Call) -> dict[str, str]:
    return {"ID": call.serving.account, "DisplayName": "smlocal"}


def number(call: S3Call, name: str, default: int) -> int:
    """A number in the query."""
    text = call.query.get(name)
    if text is None:
        return default
    if not (text.isdecimal() and len(text) < 10):  # noqa: PLR2004 - digits of a 32-bit number
        raise S3CallError("InvalidArgument", f"Provided {name} not an integer or within integer range")
    return int(text)


def _last_of(token: str | None) -> str:
    """The key or prefix that the page before has ended with; empty for the first page."""
    try:
        return str(key_of(token, str)[0]) if token else ""
    except ValueError:
        raise S3CallError("InvalidArgument", "The continuation token provided is incorrect") from None


def xml(name: str, content: Mapping[str, Any] | str) -> Response:
    """An answer with a document."""
    return Response(document(name, content), media_type="application/xml")
