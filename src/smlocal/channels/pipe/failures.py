"""Why a feed cannot go on, in the words that the service would end the job with."""

from errno import EACCES, ENOENT, ENOTDIR, EPERM

from smlocal.contract.outcome.failure_reason import client_error
from smlocal.sources.s3.interface import S3Error

_WORDS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    ENOTDIR: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}


class FeedError(Exception):
    """The data itself stands in the way: `reason` is for the job's FailureReason, `explanation` for the user here."""

    def __init__(self, words: str, explanation: str) -> None:
        super().__init__(words)
        self.reason = client_error(f"Data download failed:{words}")
        self.explanation = explanation


def unreadable(uri: str, error: OSError) -> FeedError:
    """What the system says of a local file that stands for an object."""
    words = _WORDS.get(error.errno or 0, f"InternalError: {error.strerror}")
    return FeedError(f"Unable to download object {uri} ({words})", str(error))


def of_s3(error: S3Error) -> FeedError:
    """What S3 says."""
    from smlocal.sources.s3.failure_reasons import download_failure

    return FeedError(download_failure(error), f"{error.uri}: {error}")


def missing(uri: str, why: str) -> FeedError:
    """An object that cannot be there."""
    return FeedError(f"Unable to download object {uri} ({_WORDS[ENOENT]})", why)


def changed(uri: str) -> FeedError:
    """An object that became another one while it was being sent."""
    words = "PreconditionFailed: At least one of the pre-conditions you specified did not hold"
    return FeedError(f"Unable to download object {uri} ({words})", f"{uri} changed while it was being read.")


def not_gzip(uri: str, error: Exception) -> FeedError:
    """An object that CompressionType promises too much about."""
    return FeedError(f"Failed to decompress object {uri} as Gzip", f"{uri} is not whole gzip data: {error}")


def bad_line(uri: str, number: int, why: str) -> FeedError:
    """A line of an augmented manifest that nothing can be sent for."""
    return FeedError(
        f"Failed to download data. Augmented manifest {uri} is not valid: line {number} {why}", f"{uri}:{number}: {why}"
    )


def name_taken(path: str) -> FeedError:
    """Something that the container made is where a FIFO must be."""
    return FeedError(
        f"Failed to create {path}: the name is already taken by something else",
        f"The container created {path}, which is the next epoch's FIFO.",
    )


def no_room(error: OSError) -> FeedError:
    """Not even room for a FIFO, or for an augmented manifest."""
    return FeedError("Insufficient disk space", str(error))
