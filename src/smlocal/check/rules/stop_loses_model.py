"""A job that reacts to SIGTERM, but saves nothing."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.scenarios import LONGER, STOPPED, compared, completed_plain
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if not completed_plain(subject).model:
        raise CannotLookError("the job leaves no model anyway", test="make it write a model first")
    result = compared(subject, STOPPED)
    if result.stop is None:
        raise CannotLookError("the job ended before SIGTERM was sent, or the engine cannot list processes", test=LONGER)
    if result.stop.too_early:
        raise CannotLookError("SIGTERM came before the first process had a handler for it", test=LONGER)
    killed = any(host.killed for host in result.hosts)
    if not killed and not result.stop.first.handles_sigterm:
        raise CannotLookError("the job ignores SIGTERM, and went on to its end")
    if not result.model:
        how = "killed after SIGTERM" if killed else "stopped by SIGTERM"
        yield Finding(message=f"a job that is {how} leaves nothing in /opt/ml/model", job=STOPPED.id)


RULE = Rule(
    id="stop-loses-model",
    severity=Severity.INFO,
    title="A job that is stopped leaves no model",
    why=(
        "After a stop the service uploads the files in `/opt/ml/model`. The 120 seconds between SIGTERM and "
        "SIGKILL are there to save it. The check stops the job in the middle of its training."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Save the model as it is when SIGTERM comes, or from time to time.",
    check=_check,
    jobs=lambda _subject: (STOPPED,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ntrap 'exit 0' TERM\nsleep 6 &\nwait\ntouch /opt/ml/model/weights\n"),),
        good_files=(("train", "#!/bin/sh\ntrap 'touch /opt/ml/model/weights; exit' TERM EXIT\nsleep 6 &\nwait\n"),),
        output="a job that is stopped by SIGTERM leaves nothing in /opt/ml/model",
    ),
)
