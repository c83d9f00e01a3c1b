"""The reason of a job whose data or containers could not be prepared, and what really happened."""

import errno

import pytest

from smlocal.errors import EngineTlsError, HomeUnusableError, StagingError, StreamNotStartedError
from smlocal.jobs.attempt import staging_failure
from smlocal.terms.statuses import INTERNAL_ERROR, Failure, input_failure

FULL = input_failure("Data download failed:Insufficient disk space")


@pytest.mark.parametrize(
    ("error", "failure", "why"),
    [
        (StagingError("Data download failed:a"), input_failure("Data download failed:a"), None),
        (StagingError("Data download failed:a", details=("b", "c")), input_failure("Data download failed:a"), "b; c"),
        (StreamNotStartedError("a", details=("b", "c")), INTERNAL_ERROR, "b; c"),
        (OSError(errno.ENOSPC, "full", "/f"), FULL, "[Errno 28] full: '/f'"),
        (OSError(errno.EDQUOT, "quota", "/f"), FULL, "[Errno 122] quota: '/f'"),
        (
            PermissionError(errno.EACCES, "denied", "/f"),
            input_failure("Data download failed:denied: /f"),
            "[Errno 13] denied: '/f'",
        ),
        (HomeUnusableError("a", details=("b",)), FULL, "a; b"),
        (EngineTlsError("a", details=("b",)), INTERNAL_ERROR, "a; b"),
        (KeyError("a"), INTERNAL_ERROR, "unexpected error in smlocal: KeyError: 'a'"),
    ],
)
def test_the_reason_and_what_happened(error: Exception, failure: Failure, why: str | None) -> None:
    assert staging_failure(error) == (failure, why)
