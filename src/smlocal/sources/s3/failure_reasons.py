"""Failure reasons for errors of S3, in the service's words."""

from smlocal.sources.s3.error_responses import UNREACHABLE
from smlocal.sources.s3.interface import S3Error

_FORBIDDEN = 403


def download_failure(error: S3Error) -> str:
    """What follows `Data download failed:`; the service's own text where it is known, else in its style."""
    if error.operation == "ListObjectsV2":
        text = f"{error.code}: {error.message}" if error.status else UNREACHABLE
        return f"Failed to download data. ListObjectsV2 failed for {error.uri} : {text}"
    if error.status == _FORBIDDEN and error.code == "Forbidden":
        # A response without a document, as to HEAD.
        return "failed to download data. 403 Forbidden (403): Forbidden"
    return f"Unable to download object {error.uri} ({error.code}: {error.message})"


def upload_failure(error: S3Error) -> str:
    """The whole failure reason of an upload."""
    return f"Artifact upload failed:{upload_reason(error)}"


def upload_reason(error: S3Error) -> str:
    """What follows the colon, in the service's form: `Error 7: AccessDenied (403): Access Denied`."""
    return f"Error 7: {error.code} ({error.status}): {error.message}" if error.status else UNREACHABLE
