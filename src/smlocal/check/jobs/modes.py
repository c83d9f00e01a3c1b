"""What rules about input modes have in common: a job that fails, and completes with the same data in File mode."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Finding
from smlocal.check.jobs.comparison import declared
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import channels_in, in_file_mode
from smlocal.check.subject import Subject


def need_channels_in(subject: Subject, mode: str) -> tuple[str, ...]:
    """The channels in this mode; a rule about it is skipped without any."""
    declared(subject, "which channels there are")
    names = channels_in(subject.jobs.request, mode)
    if not names:
        raise CannotLookError(f"no channel of the job is in {mode} mode")
    return names


def fails_in(subject: Subject, mode: str) -> Iterator[Finding]:
    """A finding if only the mode is to blame. The job in File mode is run if the plain one fails."""
    names = need_channels_in(subject, mode)
    plain = subject.jobs.result(PLAIN)
    if plain.completed:
        return
    other = subject.jobs.result(in_file_mode(mode))
    if not other.completed:
        raise CannotLookError(
            "the job does not complete in File mode either",
            (other.how, *other.reason_lines),
            test="let it complete first",
        )
    message = f"the job completes with {', '.join(names)} in File mode, but not in {mode} mode: {plain.how}"
    yield Finding(message=message, job=PLAIN.id, host=plain.first_failed, details=plain.reason_lines)
