"""A job that needs the network."""

from collections.abc import Iterable, Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.jobs.scenarios import ISOLATED, compared
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    return (PLAIN,) if subject.jobs.request.get("EnableNetworkIsolation") is True else (ISOLATED,)


def _check(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete without the network: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


RULE = Rule(
    id="needs-network",
    severity=Severity.WARNING,
    title="The job fails without the network",
    why=(
        "With EnableNetworkIsolation, containers reach nothing but the other hosts of their job, and have no AWS "
        "credentials. Algorithms of the AWS Marketplace always run this way, and many accounts require it. "
        "Downloads while it runs also make a job depend on servers that may be down."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Put the downloads of the job into the image, or pass them as a channel.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nping -c 1 -W 2 $(ip route | awk '/^default/ {print $3}') || exit 7\n"),),
        good_files=(
            ("train", "#!/bin/sh\nping -c 1 -W 2 $(ip route | awk '/^default/ {print $3}') || echo Offline.\n"),
        ),
        output="the job does not complete without the network: Failed: AlgorithmError: , exit code: 7",
    ),
)
