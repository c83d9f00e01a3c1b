"""What is said of a job that has not ended, or has, in the words of its platform."""

from typing import TYPE_CHECKING

from smlocal.errors import JobFinishedError, JobNotFinishedError
from smlocal.job.platform import Spoken, platform_named

if TYPE_CHECKING:
    from smlocal.store.records import JobRecord


def spoken_of(record: "JobRecord") -> Spoken:
    """How sentences speak of this job."""
    return platform_named(record.platform).spoken(record)


def not_finished(record: "JobRecord", *remedy: str) -> JobNotFinishedError:
    """The error for what only a finished job allows."""
    state, _ = platform_named(record.platform).words(record)
    return JobNotFinishedError(
        f"The {spoken_of(record).job} '{record.name}' is not finished: it is {state}.", remedy=remedy
    )


def finished(record: "JobRecord") -> JobFinishedError:
    """The error for a stop of a job that has ended."""
    return JobFinishedError(spoken_of(record).ended)
