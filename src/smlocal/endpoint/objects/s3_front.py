"""Answers calls of S3: objects are files in folders of this machine."""

import os
import traceback
from collections.abc import Awaitable, Callable, Mapping
from errno import EDQUOT, ENOSPC

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from smlocal.endpoint.large_requests import BodyTooLargeError, BodyTooSlowError
from smlocal.endpoint.objects import bucket_operations as buckets
from smlocal.endpoint.objects import object_operations as objects
from smlocal.endpoint.objects import uploads
from smlocal.endpoint.objects.received import in_time
from smlocal.endpoint.objects.s3_call import S3Call, is_s3_host, is_signed_v2, read_call
from smlocal.endpoint.objects.s3_documents import S3CallError, error_document, not_emulated
from smlocal.endpoint.protocol.aws_names import Scope
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Problem

_HANDLERS: Mapping[str, Callable[[S3Call], Awaitable[Response]]] = {
    "AbortMultipartUpload": uploads.abort,
    "CompleteMultipartUpload": uploads.complete,
    "CopyObject": objects.copy,
    "CreateBucket": buckets.create,
    "CreateMultipartUpload": uploads.create,
    "DeleteBucket": buckets.delete,
    "DeleteObject": objects.delete,
    "DeleteObjects": objects.delete_several,
    "GetBucketLocation": buckets.get_location,
    "GetObject": objects.get,
    "HeadBucket": buckets.head,
    "HeadObject": objects.head,
    "ListBuckets": buckets.list_buckets,
    "ListMultipartUploads": uploads.list_uploads,
    "ListObjects": buckets.list_objects,
    "ListObjectsV2": buckets.list_objects_v2,
    "ListParts": uploads.list_parts,
    "PutObject": objects.put,
    "UploadPart": uploads.put_part,
    "UploadPartCopy": uploads.copy_part,
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
