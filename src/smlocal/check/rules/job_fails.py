"""A job that does not complete."""

from collections.abc import Iterator

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import JOB
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    if result.completed:
        return
    if subject.jobs.guessed:
        raise CannotLookError(
            f"the job did not complete with made-up data ({result.how})",
            result.details,
            test=JOB_FILE_NEEDED,
        )
    yield Finding(
        message=f"the job does not complete: {result.how}",
        job=PLAIN.id,
        host=result.first_failed,
        details=result.details,
    )


RULE = Rule(
    id="job-fails",
    severity=Severity.ERROR,
    title="The job does not complete",
    why=(
        "The job is run as the job file describes it, on a few files of its own data, without AWS credentials. The "
        "service calls a job Completed if all its containers exit with 0, and any other exit fails it."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Run it with smlocal run, and look at its log. If the job is only slow, give it more time with --timeout.",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/train/* || exit 3\ntouch /opt/ml/model/weights\n"),),
        good_files=(
            ("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 3\ntouch /opt/ml/model/weights\n"),
        ),
        bad_job=JOB,
        output="the job does not complete: Failed: AlgorithmError: , exit code: 3",
    ),
)
