"""A job that does not react to SIGTERM."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import JobResult, StopSeen
from smlocal.check.jobs.scenarios import LONGER, STOPPED, compared
from smlocal.check.subject import Subject

_INSTALL = "Install a handler for SIGTERM that saves the model and exits."
_END = "Let the handler save the model and exit."


def _check(subject: Subject) -> Iterator[Finding]:
    result = compared(subject, STOPPED)
    if result.stop is None:
        raise CannotLookError("the job ended before SIGTERM was sent, or the engine cannot list processes", test=LONGER)
    if result.stop.too_early:
        raise CannotLookError("SIGTERM came before the first process had a handler for it", test=LONGER)
    if any(host.killed for host in result.hosts):
        message = f"the job was killed {result.grace} s after SIGTERM: {_who(result.stop)}"
        yield Finding(message=message, job=STOPPED.id, host=_killed(result), remedy=_remedy(result.stop))
    elif not result.stop.first.handles_sigterm:
        message = f"the job ignores SIGTERM and goes on to its end: {_who(result.stop)}"
        yield Finding(message=message, job=STOPPED.id, remedy=_remedy(result.stop))


def _killed(result: JobResult) -> str:
    return next(host.name for host in result.hosts if host.killed) if len(result.hosts) > 1 else ""


def _who(stop: StopSeen) -> str:
    """How the processes treat the signal."""
    names = ", ".join(dict.fromkeys(each.name for each in stop.others))
    if stop.first.handles_sigterm:
        return f"{stop.first.name}, the first process, has a handler for it and does not end" + (
            f"; {names} may not have got it" if names else ""
        )
    return f"{stop.first.name}, the first process, has no handler for it" + (
        f" and does not pass it on to {names}" if names else ""
    )


def _remedy(stop: StopSeen) -> str:
    """A program that is the first process has been started with exec already."""
    return "" if stop.others else _INSTALL if not stop.first.handles_sigterm else _END


RULE = Rule(
    id="sigterm-unhandled",
    severity=Severity.WARNING,
    title="The job does not react to SIGTERM",
    why=(
        "StopTrainingJob, MaxRuntimeInSeconds and spot interruptions send SIGTERM to the first process of the "
        "container, and SIGKILL 120 seconds later. The kernel does nothing with a SIGTERM for which the first process"
        " has no handler, and no other process gets it. So a program that is started by a shell without exec, or that "
        "installs no handler, trains on for two minutes and is killed. The check sends SIGTERM in the middle of the "
        "job, and looks at the handlers of its processes. It waits for up to --timeout, but no more than 120 seconds."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start the program with exec, and let it save its work and exit when it gets SIGTERM.",
    check=_check,
    jobs=lambda _subject: (STOPPED,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nsleep 6\n"),),
        good_files=(("train", "#!/bin/sh\ntrap 'exit 0' TERM\nsleep 6 &\nwait\n"),),
        output=(
            "the job ignores SIGTERM and goes on to its end: train, the first process, has no handler for it and does "
            "not pass it on to sleep"
        ),
    ),
)
