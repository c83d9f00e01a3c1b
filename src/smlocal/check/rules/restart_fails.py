"""A job that does not survive an interruption."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.jobs.scenarios import INTERRUPTED, JOB, LONGER, completed_plain, declared
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> Iterable[Scenario]:
    declared(subject, "where checkpoints are")
    if not subject.jobs.request.get("CheckpointConfig"):
        raise CannotLookError("the job has no CheckpointConfig")
    return (INTERRUPTED,)


def _check(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs(subject):
        if not completed_plain(subject).checkpoints:
            yield Finding(message="the job has a CheckpointConfig and writes no checkpoint", job=PLAIN.id)
            continue
        result = subject.jobs.result(scenario)
        if not result.local.get("Interruptions"):
            raise CannotLookError("the job ended before it was interrupted", test=LONGER)
        if not result.completed:
            message = f"the job does not complete after an interruption: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)
        elif not result.checkpoints_before:
            why = "no checkpoint had been written when the job was interrupted, so none was restored"
            raise CannotLookError(why, test="make it write checkpoints earlier, or train longer")


RULE = Rule(
    id="restart-fails",
    severity=Severity.WARNING,
    title="The job does not continue after a spot interruption",
    why=(
        "When spot instances are taken away, the service starts the job again on others. Model and output folders are "
        "empty then, and the checkpoint folder has its earlier files. A job that finds checkpoints has to continue "
        "from them, even if the last one is incomplete. The check interrupts the job as soon as there is a checkpoint."
    ),
    mark=Mark.DOCUMENTED,
    remedy=(
        "Write checkpoints under another name and rename them when they are complete; continue from the last one; try "
        "it with smlocal interrupt."
    ),
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncd /opt/ml/checkpoints && mkdir 1 || exit 9\ntouch 1/weights\nsleep 3\n"),),
        good_files=(
            ("train", "#!/bin/sh\ncd /opt/ml/checkpoints && mkdir -p 1 || exit 9\ntouch 1/weights\nsleep 3\n"),
        ),
        bad_job=JOB + "CheckpointConfig: {S3Uri: s3://my-bucket/checkpoints}\n",
        output="the job does not complete after an interruption: Failed: AlgorithmError: , exit code: 9",
    ),
)
