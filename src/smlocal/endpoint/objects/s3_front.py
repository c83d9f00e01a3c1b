"""Answers calls of S3, multipart uploads too: objects are files in folders of this machine."""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from http import HTTPStatus
from typing import Any, Self
from xml.etree.ElementTree import Element

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.large_requests import BodyTooLargeError, BodyTooSlowError
from smlocal.endpoint.objects import bucket_operations as buckets
from smlocal.endpoint.objects import object_operations as objects
from smlocal.endpoint.objects.bucket_folder import Bucket, Condition, check_new_key
from smlocal.endpoint.objects.bucket_operations import folder, number, xml
from smlocal.endpoint.objects.object_files import Attributes, IncomingFile
from smlocal.endpoint.objects.object_headers import headers_to_keep, writing_condition
from smlocal.endpoint.objects.object_operations import check_source_conditions, source_of
from smlocal.endpoint.objects.received import check_stated_length, in_time, read_xml, receive
from smlocal.endpoint.objects.s3_call import S3Call, is_s3_host, is_signed_v2, read_call
from smlocal.endpoint.objects.s3_documents import (
    DECLARATION,
    S3CallError,
    document,
    error_document,
    malformed,
    moment,
    not_emulated,
)
from smlocal.endpoint.protocol.aws_names import Scope
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Problem

_QUIET_SECONDS = 5.0
_SIGN_OF_LIFE_SECONDS = 10.0
_SPAN = re.compile(r"bytes=([0-9]{1,20})-([0-9]{1,20})")
_MOST_ON_A_PAGE = 1000


async def create(call: S3Call) -> Response:
    """A new upload."""
    headers = headers_to_keep(call.request.headers)
    check_new_key(call.key)
    bucket = await run_in_threadpool(folder, call)
    upload = await run_in_threadpool(UploadFolder.create, bucket, call.key, headers)
    return xml("InitiateMultipartUploadResult", {"Bucket": call.bucket, "Key": call.key, "UploadId": upload.id})


async def put_part(call: S3Call) -> Response:
    """Receive a part."""
    check_stated_length(call.request)
    part = _part_number(call)
    bucket = await run_in_threadpool(folder, call)
    upload = await run_in_threadpool(_upload, call)
    with await run_in_threadpool(bucket.new_file) as new:
        got = await receive(call.request, new)
        await run_in_threadpool(upload.put_part, part, new, got.md5)
    return Response(headers={"etag": f'"{got.md5}"', **got.checksums})


async def copy_part(call: S3Call) -> Response:
    """A part with the bytes of an object."""
    return await run_in_threadpool(_copy_part, call)


def _copy_part(call: S3Call) -> Response:
    part, upload = _part_number(call), _upload(call)
    source, key = source_of(call)
    descriptor = source.open(key)
    try:
        state = source.state(key, descriptor)
        check_source_conditions(call, source.attributes.read(key, state), modified=os.fstat(descriptor).st_mtime)
        with folder(call).new_file() as new:
            new.append_from(descriptor, _source_span(call.header("x-amz-copy-source-range"), state.st_size))
            md5 = new.md5()
            upload.put_part(part, new, md5)
            made = new.state().st_mtime
    finally:
        os.close(descriptor)
    return xml("CopyPartResult", {"LastModified": moment(made), "ETag": f'"{md5}"'})


def _source_span(stated: str | None, size: int) -> tuple[int, int]:
    if stated is None:
        return 0, size
    found = _SPAN.fullmatch(stated)
    if found is None or not int(found[1]) <= int(found[2]) < size:
        raise S3CallError("InvalidArgument", f"Range specified is not valid for source object of size: {size}")
    return int(found[1]), int(found[2]) + 1


async def complete(call: S3Call) -> Response:
    """Put the object together. As on S3, the answer begins before that is done if it takes long."""
    asked = _asked(await read_xml(call.request))
    condition = writing_condition(call.request.headers)

    def put_together() -> bytes:
        bucket = folder(call)
        try:
            etag = UploadFolder(bucket, call.key, call.query["uploadId"]).complete(asked, condition)
        except S3CallError as error:
            etag = etag_of_parts([md5 for _, md5 in asked])
            if error.code != "NoSuchUpload" or not _has(call, etag):
                raise
            # The call was made again because its answer was lost.
        location = f"{call.serving.address}/{call.bucket}/{call.key}"
        members = {"Location": location, "Bucket": call.bucket, "Key": call.key, "ETag": f'"{etag}"'}
        return document("CompleteMultipartUploadResult", members)

    work = asyncio.ensure_future(run_in_threadpool(put_together))
    await asyncio.wait({work}, timeout=_QUIET_SECONDS)
    if work.done():
        return Response(work.result(), media_type="application/xml")
    return StreamingResponse(_slowly(work), media_type="application/xml")


async def _slowly(work: "asyncio.Future[bytes]") -> AsyncIterator[bytes]:
    yield DECLARATION
    while not work.done():
        await asyncio.wait({work}, timeout=_SIGN_OF_LIFE_SECONDS)
        yield b" "
    try:
        yield work.result().removeprefix(DECLARATION)
    except (S3CallError, OSError) as error:
        code = error.code if isinstance(error, S3CallError) else "InternalError"
        yield error_document({"Code": code, "Message": str(error)}).removeprefix(DECLARATION)


def _has(call: S3Call, etag: str) -> bool:
    """True if the object is there already."""
    bucket = folder(call)
    try:
        descriptor = bucket.open(call.key)
    except S3CallError:
        return False
    try:
        return bucket.attributes.read(call.key, bucket.state(call.key, descriptor)).etag == etag
    finally:
        os.close(descriptor)


def _asked(root: Element) -> list[tuple[int, str]]:
    parts = root.findall("Part")
    if root.tag != "CompleteMultipartUpload" or not parts or len(parts) > MOST_PARTS:
        raise malformed()
    try:
        asked = [(int(each.findtext("PartNumber", "")), each.findtext("ETag", "").strip().strip('"')) for each in parts]
        for _, md5 in asked:
            bytes.fromhex(md5)
    except ValueError:
        raise malformed() from None
    return asked


async def abort(call: S3Call) -> Response:
    """Drop all parts."""
    upload = await run_in_threadpool(_upload, call)
    await run_in_threadpool(upload.abort)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def list_parts(call: S3Call) -> Response:
    """The parts that have come."""
    after, most = (
        number(call, "part-number-marker", 0),
        min(number(call, "max-parts", _MOST_ON_A_PAGE), _MOST_ON_A_PAGE),
    )
    parts = [part for part in (await run_in_threadpool(_upload, call)).parts() if part.number > after]
    shown = parts[:most]
    return xml(
        "ListPartsResult",
        {
            "Bucket": call.bucket,
            "Key": call.key,
            "UploadId": call.query["uploadId"],
            "PartNumberMarker": after,
            "NextPartNumberMarker": shown[-1].number if shown else 0,
            "MaxParts": most,
            "IsTruncated": len(parts) > most,
            "Part": [
                {
                    "PartNumber": part.number,
                    "LastModified": moment(part.state.st_mtime),
                    "ETag": f'"{part.md5}"',
                    "Size": part.state.st_size,
                }
                for part in shown
            ],
            "StorageClass": "STANDARD",
        },
    )


async def list_uploads(call: S3Call) -> Response:
    """The uploads of a bucket, on one page."""
    if call.query.get("delimiter"):
        raise S3CallError("NotImplemented", "smlocal does not emulate ?delimiter of ListMultipartUploads.")
    bucket = await run_in_threadpool(folder, call)
    prefix, after = call.query.get("prefix", ""), call.query.get("key-marker", "")
    found = [each for each in await run_in_threadpool(uploads_of, bucket) if each[0].startswith(prefix)]
    uploads = [
        {"Key": key, "UploadId": upload_id, "StorageClass": "STANDARD", "Initiated": moment(made)}
        for key, upload_id, made in found
        if key > after
    ]
    return xml("ListMultipartUploadsResult", {"Bucket": call.bucket, "IsTruncated": False, "Upload": uploads})


# An upload is a folder beside the bucket's: its parts are files with the MD5 of each in the name.

_ID = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"(\d{5})-([0-9a-f]{32})")
_LEAST_PART = 5 << 20
MOST_PARTS = 10_000
_ABOUT = "upload.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class UploadPart:
    """A part that has come."""

    number: int
    md5: str
    path: str
    state: os.stat_result


class UploadFolder:
    """One upload that is neither completed nor aborted."""

    def __init__(self, bucket: Bucket, key: str, upload_id: str) -> None:
        """`S3CallError` if there is none with this id for this key."""
        self.id = upload_id
        self._bucket = bucket
        self._path = os.path.join(_uploads(bucket), upload_id)
        about = _about(self._path) if _ID.fullmatch(upload_id) else None
        if about is None or about["Key"] != key:
            raise no_such_upload(upload_id)
        self.key = key
        self.headers: Mapping[str, str] = about["Headers"]

    @classmethod
    def create(cls, bucket: Bucket, key: str, headers: Mapping[str, str]) -> Self:
        """A new one."""
        upload_id = os.urandom(16).hex()
        path = os.path.join(_uploads(bucket), upload_id)
        os.makedirs(path)
        with open(os.path.join(path, _ABOUT), "w", encoding="utf-8") as file:
            json.dump({"Key": key, "Headers": headers}, file)
        return cls(bucket, key, upload_id)

    def put_part(self, number: int, new: IncomingFile, md5: str) -> None:
        """Add a part, or replace it."""
        with self._lock():
            before = [part for part in self.parts() if part.number == number]
            new.rename(os.path.join(self._path, f"{number:05}-{md5}"), None)
            for part in before:
                if part.md5 != md5:
                    os.unlink(part.path)

    def parts(self) -> list[UploadPart]:
        """The received parts, in order."""
        found = ((each, _PART.fullmatch(each.name)) for each in os.scandir(self._path))
        parts = [
            UploadPart(number=int(named[1]), md5=named[2], path=each.path, state=each.stat())
            for each, named in found
            if named is not None
        ]
        return sorted(parts, key=lambda part: part.number)

    def complete(self, asked: Sequence[tuple[int, str]], condition: Condition | None) -> str:
        """Put the object together from parts, by number and ETag; returns its ETag."""
        with self._lock():
            parts = self._chosen(asked)
            with self._bucket.new_file() as new:
                for part in parts:
                    with open(part.path, "rb") as file:
                        new.append_from(file.fileno(), (0, part.state.st_size))
                etag = etag_of_parts([part.md5 for part in parts])
                attributes = Attributes(etag=etag, headers=self.headers, checksums={})
                self._bucket.put(self.key, new, attributes, condition)
            remove_tree(self._path)
        return etag

    def abort(self) -> None:
        """Remove all parts."""
        with self._lock():
            remove_tree(self._path)

    def _chosen(self, asked: Sequence[tuple[int, str]]) -> list[UploadPart]:
        have = {(part.number, part.md5): part for part in self.parts()}
        numbers = [each for each, _ in asked]
        if numbers != sorted(set(numbers)):
            raise S3CallError(
                "InvalidPartOrder",
                "The list of parts was not in ascending order. Parts must be ordered by part number.",
            )
        chosen = []
        for part_number, md5 in asked:
            part = have.get((part_number, md5))
            if part is None:
                raise S3CallError(
                    "InvalidPart",
                    "One or more of the specified parts could not be found. The part may not have been uploaded, or "
                    "the specified entity tag may not match the part's entity tag.",
                    PartNumber=str(part_number),
                )
            chosen.append(part)
        for part in chosen[:-1]:
            if part.state.st_size < _LEAST_PART:
                raise S3CallError(
                    "EntityTooSmall",
                    "Your proposed upload is smaller than the minimum allowed size",
                    PartNumber=str(part.number),
                    ProposedSize=str(part.state.st_size),
                    MinSizeAllowed=str(_LEAST_PART),
                )
        return chosen

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One change at a time. `S3CallError` if the upload was completed or aborted before it is ours."""
        try:
            file = open(os.path.join(self._path, _ABOUT), "rb")  # noqa: SIM115 - closed below
        except FileNotFoundError:
            raise no_such_upload(self.id) from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file.fileno()).st_nlink:
                raise no_such_upload(self.id)
            yield


def uploads_of(bucket: Bucket) -> list[tuple[str, str, float]]:
    """Key, id and time of all uploads of a bucket, in S3's order."""
    try:
        ids = os.listdir(_uploads(bucket))
    except FileNotFoundError:
        return []
    found = []
    for upload_id in ids:
        path = os.path.join(_uploads(bucket), upload_id)
        about = _about(path)
        if about is not None:
            found.append((about["Key"], upload_id, os.stat(path).st_mtime))
    return sorted(found, key=lambda each: (each[0].encode(), each[2]))


def etag_of_parts(md5s: Sequence[str]) -> str:
    """The ETag of an object that was put together."""
    digest = hashlib.md5(b"".join(map(bytes.fromhex, md5s)), usedforsecurity=False).hexdigest()
    return f"{digest}-{len(md5s)}"


def no_such_upload(upload_id: str) -> S3CallError:
    """There is none, or not any more."""
    return S3CallError(
        "NoSuchUpload",
        "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or "
        "completed.",
        UploadId=upload_id,
    )


def _uploads(bucket: Bucket) -> str:
    return os.path.join(bucket.private, "uploads")


def _about(path: str) -> dict[str, Any] | None:
    try:
        with open(os.path.join(path, _ABOUT), "rb") as file:
            about: dict[str, Any] = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return about


def _upload(call: S3Call) -> UploadFolder:
    return UploadFolder(folder(call), call.key, call.query["uploadId"])


def _part_number(call: S3Call) -> int:
    part = number(call, "partNumber", 0)
    if not 1 <= part <= MOST_PARTS:
        raise S3CallError("InvalidArgument", f"Part number must be an integer between 1 and {MOST_PARTS}, inclusive")
    return part


_HANDLERS: Mapping[str, Callable[[S3Call], Awaitable[Response]]] = {
    "AbortMultipartUpload": abort,
    "CompleteMultipartUpload": complete,
    "CopyObject": objects.copy,
    "CreateBucket": buckets.create,
    "CreateMultipartUpload": create,
    "DeleteBucket": buckets.delete,
    "DeleteObject": objects.delete,
    "DeleteObjects": objects.delete_several,
    "GetBucketLocation": buckets.get_location,
    "GetObject": objects.get,
    "HeadBucket": buckets.head,
    "HeadObject": objects.head,
    "ListBuckets": buckets.list_buckets,
    "ListMultipartUploads": list_uploads,
    "ListObjects": buckets.list_objects,
    "ListObjectsV2": buckets.list_objects_v2,
    "ListParts": list_parts,
    "PutObject": objects.put,
    "UploadPart": put_part,
    "UploadPartCopy": copy_part,
}
_MOST_DISCARDED = 8 << 20


def is_for_s3(request: Request, scope: Scope | None) -> bool:
    """True for requests signed for S3, in a header or in the query, and for AWS's names of S3."""
    if scope is not None:
        return scope.service == "s3"
    return is_signed_v2(request) or is_s3_host(request.headers.get("host", ""))


async def answer(serving: Serving, request: Request, scope: Scope | None, *, problem: Problem | None) -> Response:
    """The answer of S3, or its error. `problem`: of the signature."""
    if problem is not None:
        return await refused(request, S3CallError(problem.s3_code, problem.message))
    try:
        call = await run_in_threadpool(read_call, serving, request, scope)
        response = await _HANDLERS.get(call.operation, _unknown)(call)
    except S3CallError as error:
        response = await refused(request, error)
    except (BodyTooLargeError, BodyTooSlowError, ClientDisconnect):
        raise
    except OSError as error:
        serving.log(f"S3: {error.strerror or error}")
        full = error.errno in {ENOSPC, EDQUOT}
        response = await refused(request, S3CallError("InternalError", "the disk is full" if full else "a file failed"))
    except Exception:  # noqa: BLE001 - no call may end the connection without an answer
        serving.log(f"S3: {traceback.format_exc()}")
        response = await refused(request, S3CallError("InternalError", "The server has met an unexpected error."))
    response.headers["x-amz-request-id"] = os.urandom(8).hex().upper()
    return response


async def _unknown(call: S3Call) -> Response:
    raise not_emulated(call.operation)


async def refused(request: Request, error: S3CallError) -> Response:
    """An error, after what the client is still sending: many read no answer before they have sent all."""
    headers = {} if await _discard_body(request) else {"connection": "close"}
    members = {"Code": error.code, "Message": error.message, "Resource": request.url.path, **error.members}
    body = b"" if request.method == "HEAD" else error_document(members)
    return Response(body, status_code=error.status, media_type="application/xml", headers=headers)


async def _discard_body(request: Request) -> bool:
    """True if nothing of the body is left; a client that waits to be told to send it is not."""
    if request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers:
        return True
    if request.headers.get("expect", "").lower() == "100-continue":
        return False
    left = _MOST_DISCARDED
    try:
        async for piece in in_time(request):
            left -= len(piece)
            if left < 0:
                return False
    except (RuntimeError, BodyTooSlowError):  # read before; too slow
        return False
    return True
