"""A job that expects the next FIFO at once."""

from collections.abc import Iterable, Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import Scenario
from smlocal.check.jobs.scenarios import JOB, LATE_FIFO, compared, need_channels_in
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    need_channels_in(subject, "Pipe")
    return (LATE_FIFO,)


def _check(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete if the FIFO of the next epoch comes late: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


RULE = Rule(
    id="late-fifo-fails",
    severity=Severity.WARNING,
    title="The job expects the FIFO of the next epoch at once",
    why=(
        "In Pipe mode the FIFO of the next epoch is usually there before the last one has been read to its end, but "
        "AWS documents that it may come later, and that a job has to try again. The check delays each FIFO but the "
        "first by two seconds."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Wait for the FIFO of the next epoch if it is missing.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncd /opt/ml/input/data\ncat training_0\ncat training_1 || exit 8\n"),),
        good_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/data\ncat training_0\nuntil cat training_1; do sleep 0.2; done\n",
            ),
        ),
        bad_job=JOB + "    InputMode: Pipe\n",
        output=(
            "the job does not complete if the FIFO of the next epoch comes late: Failed: AlgorithmError: , exit code: 8"
        ),
    ),
)
