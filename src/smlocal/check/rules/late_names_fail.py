"""A job that expects the names of its peers at once."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.jobs.scenarios import LATE_NAMES, TWO_HOSTS, compared
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    resources = subject.jobs.request["ResourceConfig"]
    if resources.get("InstanceGroups"):
        raise CannotLookError("the job has instance groups")
    return (PLAIN if resources.get("InstanceCount") != 1 else TWO_HOSTS, LATE_NAMES)


def _check(subject: Subject) -> Iterator[Finding]:
    at_once, late = _jobs(subject)
    first = compared(subject, at_once)
    if not first.completed:
        raise CannotLookError(
            "the job does not complete on two hosts",
            (first.how, *first.reason_lines),
            test="make it complete there first",
        )
    result = subject.jobs.result(late)
    if not result.completed:
        message = f"the job does not complete if the names of its peers resolve late: {result.how}"
        yield Finding(message=message, job=late.id, host=result.first_failed, details=result.reason_lines)


_KNOWN = """\
#!/bin/sh
known() { ! ping -c 1 -W 1 "$1" 2>&1 | grep -q "bad address"; }
grep -q algo-2 /opt/ml/input/config/resourceconfig.json || exit 0
"""

RULE = Rule(
    id="late-names-fail",
    severity=Severity.WARNING,
    title="The job expects the names of its peers at once",
    why=(
        "When a container starts on the service, the names of the other hosts may not resolve yet. AWS's training "
        "toolkit therefore tries for up to 15 minutes. The check runs the job on two hosts, which learn each other's "
        "names two seconds after the start."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Try again for some minutes if a peer cannot be resolved or does not answer.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", _KNOWN + "known algo-1 && known algo-2 || exit 6\n"),),
        good_files=(("train", _KNOWN + "until known algo-1 && known algo-2; do sleep 0.2; done\n"),),
        output=(
            "the job does not complete if the names of its peers resolve late: Failed: AlgorithmError: , exit code: 6"
        ),
    ),
)
