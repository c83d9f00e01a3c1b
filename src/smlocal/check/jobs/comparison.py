"""What rules compare: a job with the plain one, which has to complete first."""

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.jobs.interface import PLAIN, JobResult, Scenario
from smlocal.check.subject import Subject


def completed_plain(subject: Subject) -> JobResult:
    """The plain job. A rule that changes something about it says nothing of a job that fails anyway."""
    plain = subject.jobs.result(PLAIN)
    if not plain.completed:
        raise CannotLookError(
            "the job as it is does not complete", (plain.how, *plain.reason_lines), test="let it complete first"
        )
    return plain


def compared(subject: Subject, scenario: Scenario) -> JobResult:
    """A changed job, of an image whose plain job completes."""
    completed_plain(subject)
    return subject.jobs.result(scenario)


LONGER = "let it train for ten seconds or more, with more data or more epochs"
"""What to do about a job that is over before anything can be done to it."""


def declared(subject: Subject, what: str) -> None:
    """Skip a rule about what only a job file says."""
    if subject.jobs.guessed:
        raise CannotLookError(f"needs a job file, which says {what}", test=JOB_FILE_NEEDED)
