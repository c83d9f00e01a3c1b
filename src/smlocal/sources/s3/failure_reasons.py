"""What the service says when S3 refuses: the reason, or the part of it after `Data download failed:`."""

from smlocal.sources.s3.error_responses import UNREACHABLE
from smlocal.sources.s3.interface import S3Error

_FORBIDDEN = 403


def download_failure(error: S3Error) -> str:
    """The service's own sentence where one was seen, and one made like it where none was."""
    if error.operation == "ListObjectsV2":
        words = f"{error.code}: {error.message}" if error.status else UNREACHABLE
        return f"Failed to download data. ListObjectsV2 failed for {error.uri} : {words}"
    if error.status == _FORBIDDEN and error.code == "Forbidden":
        # An answer without a document: S3 says no more to a HEAD.
        return "failed to download data. 403 Forbidden (403): Forbidden"
    return f"Unable to download object {error.uri} ({error.code}: {error.message})"


def upload_failure(error: S3Error) -> str:
    """The whole reason."""
    return f"Artifact upload failed:{upload_reason(error)}"


def upload_reason(error: S3Error) -> str:
    """What comes behind the colon, in the form that was seen: `Error 7: AccessDenied (403): Access Denied`."""
    return f"Error 7: {error.code} ({error.status}): {error.message}" if error.status else UNREACHABLE
