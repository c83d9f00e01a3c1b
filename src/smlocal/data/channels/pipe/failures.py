"""Why a Pipe channel fails, in the service's words."""

from errno import EACCES, ENOENT, ENOTDIR, EPERM

from smlocal.data.sources.s3.error_responses import download_failure
from smlocal.data.sources.s3.interface import S3Error
from smlocal.terms.failures import input_failure

_S3_ERRORS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    ENOTDIR: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}


class FeedError(Exception):
    """The data cannot be sent: `failure` is why the job fails, `explanation` is for the user."""

    def __init__(self, text: str, explanation: str) -> None:
        super().__init__(text)
        self.failure = input_failure(f"Data download failed:{text}")
        self.explanation = explanation


def unreadable(uri: str, error: OSError) -> FeedError:
    """A local file cannot be read."""
    text = _S3_ERRORS.get(error.errno or 0, f"InternalError: {error.strerror}")
    return FeedError(f"Unable to download object {uri} ({text})", str(error))


def of_s3(error: S3Error) -> FeedError:
    """An error of S3."""
    return FeedError(download_failure(error), f"{error.uri}: {error}")


def missing(uri: str, why: str) -> FeedError:
    """An object that cannot exist."""
    return FeedError(f"Unable to download object {uri} ({_S3_ERRORS[ENOENT]})", why)


def changed(uri: str) -> FeedError:
    """An object changed while it was sent."""
    text = "PreconditionFailed: At least one of the pre-conditions you specified did not hold"
    return FeedError(f"Unable to download object {uri} ({text})", f"{uri} changed while it was being read.")


def not_gzip(uri: str, error: Exception) -> FeedError:
    """An object is not gzip data, though the channel says so."""
    return FeedError(f"Failed to decompress object {uri} as Gzip", f"{uri} is not complete gzip data: {error}")


def bad_line(uri: str, number: int, why: str) -> FeedError:
    """A line of an augmented manifest is not valid."""
    return FeedError(
        f"Failed to download data. Augmented manifest {uri} is not valid: line {number} {why}", f"{uri}:{number}: {why}"
    )


def name_taken(path: str) -> FeedError:
    """The container has created something under a FIFO's name."""
    return FeedError(
        f"Failed to create {path}: the name is already taken by something else",
        f"The container created {path}, which is the next epoch's FIFO.",
    )


def no_room(error: OSError) -> FeedError:
    """No disk space for a FIFO or for an augmented manifest."""
    return FeedError("Insufficient disk space", str(error))
