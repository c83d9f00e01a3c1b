"""A job that fails on two hosts."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import Scenario
from smlocal.check.jobs.scenarios import TWO_HOSTS, compared
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    resources = subject.jobs.request["ResourceConfig"]
    if resources.get("InstanceGroups"):
        raise CannotLookError("the job has instance groups")
    if resources.get("InstanceCount") != 1:
        raise CannotLookError("the job has several hosts anyway")
    return (TWO_HOSTS,)


def _check(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete on two hosts: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


RULE = Rule(
    id="two-hosts-fail",
    severity=Severity.WARNING,
    title="The job fails on two hosts",
    why=(
        "With InstanceCount: 2 the same image starts on two hosts. resourceconfig.json tells each its name, and the "
        "names of all. A job that is not made for several hosts should train on each, or on the first only, and not "
        "fail."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Read hosts and current_host of resourceconfig.json, and let the hosts that have nothing to do exit with 0.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/config\ngrep -q 'host\": *\"algo-1' resourceconfig.json || exit 5\n",
            ),
        ),
        good_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/config\ngrep -q 'host\": *\"algo-1' resourceconfig.json || exit 0\n",
            ),
        ),
        output="the job does not complete on two hosts: Failed: AlgorithmError: , exit code: 5",
    ),
)
