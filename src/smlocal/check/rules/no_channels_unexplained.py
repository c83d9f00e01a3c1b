"""A job without channels that says nothing."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import Scenario
from smlocal.check.jobs.scenarios import NO_CHANNELS, compared
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    if not subject.jobs.channels:
        raise CannotLookError("the job has no channels anyway")
    return (NO_CHANNELS,)


def _check(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs(subject):
        result = compared(subject, scenario)
        if result.timed_out or (not result.completed and not result.explanation):
            yield Finding(
                message=f"without channels, the job does not name the problem: {result.how}",
                job=scenario.id,
                details=result.reason_lines,
            )


RULE = Rule(
    id="no-channels-unexplained",
    severity=Severity.WARNING,
    title="Without channels, the job hangs or fails without a reason",
    why=(
        "InputDataConfig is optional. Without it, the container has no channel folders. A job that needs one should "
        "write the problem to `/opt/ml/output/failure` and exit with a code other than 0: the service shows that "
        "text as the FailureReason. Without the file, the FailureReason has only an exit code."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Check which channels exist, and write to /opt/ml/output/failure which one is missing.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 1\n"),),
        good_files=(
            (
                "train",
                (
                    "#!/bin/sh\ncat /opt/ml/input/data/training/* && exit\n"
                    'echo "There is no channel training." >/opt/ml/output/failure\nexit 1\n'
                ),
            ),
        ),
        output="without channels, the job does not name the problem: Failed: AlgorithmError: , exit code: 1",
    ),
)
