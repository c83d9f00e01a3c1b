"""A job that needs almost all memory of its instance, on little data."""

from collections.abc import Iterator

from smlocal.base.readable import readable_bytes
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import JOB, LONGER
from smlocal.check.subject import Subject

_NEAR = 0.8
_MIB = 1 << 20


def _check(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    limit = subject.jobs.memory
    killed = [host for host in result.hosts if host.oom_killed]
    if killed:
        message = "the job was killed because it ran out of memory on little data"
        yield Finding(message=message, job=PLAIN.id, host=killed[0].name if len(result.hosts) > 1 else "")
        return
    if not limit:
        raise CannotLookError("the instance type is this machine", test="name an instance type of the service")
    measured = {host["Name"]: host["MemoryPeakMiB"] for host in (result.local.get("Usage") or {}).get("Hosts") or ()}
    if not measured:
        raise CannotLookError("the job ended within a second, too fast to measure its memory", test=LONGER)
    for host, peak in measured.items():
        if peak * _MIB > _NEAR * limit:
            share = f"{100 * peak * _MIB / limit:.0f} %"
            message = f"on little data, the job needs {share} of the {readable_bytes(limit)} of memory"
            yield Finding(message=message, job=PLAIN.id, host=host if len(measured) > 1 else "")


RULE = Rule(
    id="memory-near-limit",
    severity=Severity.WARNING,
    title="The job needs most of the memory of its instance",
    why=(
        "A container that needs more memory than its instance has is killed. The job of the check has little data, "
        "and usually needs less than the real one. The rule looks at the peak of memory without caches, and reports "
        "more than 80 percent of the memory of the instance type, or of `Local.Memory`."
    ),
    mark=Mark.SEEN,
    remedy="Choose a larger instance type, or read the data in pieces. smlocal describe shows large enough types.",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", """#!/bin/sh\nawk 'BEGIN { x = sprintf("%90000000s", ""); system("sleep 4") }'\n"""),),
        good_files=(("train", """#!/bin/sh\nawk 'BEGIN { x = sprintf("%9000000s", ""); system("sleep 4") }'\n"""),),
        bad_job=JOB + "Local: {Memory: 64m}\n",
        output="the job was killed because it ran out of memory on little data",
    ),
)
