"""How a call of S3 may be refused."""

from http import HTTPStatus

_STATUSES = {
    "AccessDenied": HTTPStatus.FORBIDDEN,
    "BucketAlreadyOwnedByYou": HTTPStatus.CONFLICT,
    "BucketNotEmpty": HTTPStatus.CONFLICT,
    "InternalError": HTTPStatus.INTERNAL_SERVER_ERROR,
    "InvalidAccessKeyId": HTTPStatus.FORBIDDEN,
    "InvalidRange": HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
    "MethodNotAllowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "MissingContentLength": HTTPStatus.LENGTH_REQUIRED,
    "NoSuchBucket": HTTPStatus.NOT_FOUND,
    "NoSuchKey": HTTPStatus.NOT_FOUND,
    "NoSuchUpload": HTTPStatus.NOT_FOUND,
    "NotImplemented": HTTPStatus.NOT_IMPLEMENTED,
    "PreconditionFailed": HTTPStatus.PRECONDITION_FAILED,
    "RequestTimeTooSkewed": HTTPStatus.FORBIDDEN,
    "SignatureDoesNotMatch": HTTPStatus.FORBIDDEN,
}
"""By code; all others have 400."""


class S3Error(Exception):
    """The answer of S3 to a call that it refuses."""

    def __init__(self, code: str, message: str, **members: str) -> None:
        """`members`: what the answer has beside code and message."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.members = members
        self.status = _STATUSES.get(code, HTTPStatus.BAD_REQUEST)


def no_such_bucket(bucket: str) -> S3Error:
    """No folder of that name."""
    return S3Error("NoSuchBucket", "The specified bucket does not exist", BucketName=bucket)


def no_such_key(key: str) -> S3Error:
    """No object of that name."""
    return S3Error("NoSuchKey", "The specified key does not exist.", Key=key)


def not_emulated(what: str) -> S3Error:
    """S3 has it, and smlocal does not."""
    return S3Error("NotImplemented", f"smlocal does not emulate {what}.")
