"""What rules compare: a job with the plain one, which has to complete first."""

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.jobs.interface import PLAIN, JobResult, Scenario
from smlocal.check.subject import Subject


def completed_plain(subject: Subject) -> JobResult:
    """The plain job. A rule that changes something about it says nothing of a job that fails anyway."""
    plain = subject.jobs.result(PLAIN)
    if not plain.completed:
        raise CannotLookError(f"the job as it is does not complete ({plain.how})")
    return plain


def compared(subject: Subject, scenario: Scenario) -> JobResult:
    """A changed job, of an image whose plain job completes."""
    completed_plain(subject)
    return subject.jobs.result(scenario)


def declared(subject: Subject, what: str) -> None:
    """Skip a rule about what only a job file says."""
    if subject.jobs.guessed:
        raise CannotLookError(f"needs a job file, which says {what}")
