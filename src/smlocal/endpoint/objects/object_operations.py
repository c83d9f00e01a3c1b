"""Operations on objects."""

import os
from http import HTTPStatus
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from smlocal.endpoint.objects.bucket_folder import Bucket, check_new_key
from smlocal.endpoint.objects.bucket_operations import folder, xml
from smlocal.endpoint.objects.object_files import Attributes
from smlocal.endpoint.objects.object_headers import (
    FileAnswer,
    chosen_headers,
    headers_to_keep,
    object_headers,
    precondition_failed,
    reading_status,
    stated_range,
    writing_condition,
)
from smlocal.endpoint.objects.received import MOST_OBJECT, check_stated_length, read_xml, receive
from smlocal.endpoint.objects.s3_call import S3Call
from smlocal.endpoint.objects.s3_documents import S3CallError, malformed, moment, not_emulated

_MOST_DELETED = 1000


async def put(call: S3Call) -> Response:
    """Receive a file, then give it its name."""
    headers = headers_to_keep(call.request.headers)
    check_stated_length(call.request)
    check_new_key(call.key)
    bucket = await run_in_threadpool(folder, call)
    with await run_in_threadpool(bucket.new_file) as new:
        got = await receive(call.request, new)
        attributes = Attributes(etag=got.md5, headers=headers, checksums=got.checksums)
        await run_in_threadpool(bucket.put, call.key, new, attributes, writing_condition(call.request.headers))
    return Response(headers={"etag": f'"{got.md5}"', **got.checksums})


async def get(call: S3Call) -> Response:
    """The bytes, or a range of them."""
    return await run_in_threadpool(_get, call)


async def head(call: S3Call) -> Response:
    """The same without the bytes."""
    return await run_in_threadpool(_get, call)


def _get(call: S3Call) -> Response:
    for name in ("partNumber", "versionId"):
        if call.query.get(name, "null") != "null":
            raise not_emulated(f"?{name} of {call.operation}")
    bucket = folder(call)
    descriptor = bucket.open(call.key)
    try:
        state = bucket.state(call.key, descriptor)
        attributes = bucket.attributes.read(call.key, state)
        modified = os.fstat(descriptor).st_mtime
        span = stated_range(call.header("range"), state.st_size)
        checksums = call.header("x-amz-checksum-mode") == "ENABLED" and span is None
        headers = object_headers(attributes, modified=modified, with_checksums=checksums)
        status = reading_status(call.request.headers, etag=attributes.etag, modified=modified)
        if status is HTTPStatus.PRECONDITION_FAILED:
            raise precondition_failed("If-Match")
        if status is HTTPStatus.NOT_MODIFIED:
            return Response(status_code=status, headers={"etag": headers["etag"]})
        headers.update(chosen_headers(call.query, signed=call.signed))
        if span is not None:
            status = HTTPStatus.PARTIAL_CONTENT
            headers["content-range"] = f"bytes {span[0]}-{span[1] - 1}/{state.st_size}"
        whole = span or (0, state.st_size)
        if call.request.method == "HEAD":
            return Response(status_code=status, headers={**headers, "content-length": str(whole[1] - whole[0])})
        answer = FileAnswer(descriptor, whole, status=status, headers=headers)
        descriptor = -1  # the answer closes it
        return answer
    finally:
        if descriptor >= 0:
            os.close(descriptor)


async def delete(call: S3Call) -> Response:
    """Remove an object. A missing one is not an error."""
    if call.query.get("versionId", "null") != "null":
        raise not_emulated("?versionId of DeleteObject")
    condition = writing_condition(call.request.headers)
    bucket = await run_in_threadpool(folder, call)
    await run_in_threadpool(bucket.remove, call.key, condition)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def delete_several(call: S3Call) -> Response:
    """Remove up to 1000 objects."""
    root = await read_xml(call.request)
    asked = root.findall("Object")
    if root.tag != "Delete" or not 0 < len(asked) <= _MOST_DELETED:
        raise malformed()
    keys = [each.findtext("Key", "") for each in asked]
    if any(each.findtext("VersionId", "null") != "null" for each in asked):
        raise not_emulated("VersionId of DeleteObjects")
    bucket = await run_in_threadpool(folder, call)
    failed = await run_in_threadpool(_remove_each, bucket, keys)
    quiet = root.findtext("Quiet", "false").strip() == "true"
    deleted = [] if quiet else [{"Key": key} for key in keys if key not in failed]
    errors = [{"Key": key, "Code": error.code, "Message": error.message} for key, error in failed.items()]
    return xml("DeleteResult", {"Deleted": deleted, "Error": errors})


def _remove_each(bucket: Bucket, keys: list[str]) -> dict[str, S3CallError]:
    failed = {}
    for key in keys:
        try:
            bucket.remove(key)
        except S3CallError as error:
            failed[key] = error
        except OSError as error:
            failed[key] = S3CallError("InternalError", error.strerror or str(error))
    return failed


async def copy(call: S3Call) -> Response:
    """Another object with the bytes of one."""
    return await run_in_threadpool(_copy, call)


def _copy(call: S3Call) -> Response:
    check_new_key(call.key)
    replaced = call.header("x-amz-metadata-directive") == "REPLACE"
    given = headers_to_keep(call.request.headers)
    target = folder(call)
    source, key = source_of(call)
    if not replaced and (source.name, key) == (call.bucket, call.key):
        raise S3CallError(
            "InvalidRequest",
            "This copy request is illegal because it is trying to copy an object to itself without changing the "
            "object's metadata, storage class, website redirect location or encryption attributes.",
        )
    descriptor = source.open(key)
    try:
        state = source.state(key, descriptor)
        if state.st_size > MOST_OBJECT:
            raise S3CallError(
                "InvalidRequest",
                f"The specified copy source is larger than the maximum allowable size for a copy source: {MOST_OBJECT}",
            )
        found = source.attributes.read(key, state)
        check_source_conditions(call, found, modified=os.fstat(descriptor).st_mtime)
        with target.new_file() as new:
            new.append_from(descriptor, (0, state.st_size))
            attributes = Attributes(
                etag=found.etag, headers=given if replaced else found.headers, checksums=found.checksums
            )
            target.put(call.key, new, attributes, writing_condition(call.request.headers))
            made = new.state().st_mtime
    finally:
        os.close(descriptor)
    return xml("CopyObjectResult", {"LastModified": moment(made), "ETag": f'"{found.etag}"'})


def source_of(call: S3Call) -> tuple[Bucket, str]:
    """Bucket and key of the header x-amz-copy-source."""
    stated, _, version = (call.header("x-amz-copy-source") or "").partition("?versionId=")
    if version not in {"", "null"}:
        raise not_emulated(f"versions in x-amz-copy-source of {call.operation}")
    name, _, key = unquote(stated).removeprefix("/").partition("/")
    if not key:
        raise S3CallError(
            "InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey"
        )
    return Bucket(call.serving.buckets, name), key


def check_source_conditions(call: S3Call, found: Attributes, *, modified: float) -> None:
    """`S3CallError` if the source is not what the client expects."""
    before = "x-amz-copy-source-if-"
    if reading_status(call.request.headers, etag=found.etag, modified=modified, before=before) is not HTTPStatus.OK:
        raise precondition_failed(before)
