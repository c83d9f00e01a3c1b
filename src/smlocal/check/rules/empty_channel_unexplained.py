"""A job with an empty channel that says nothing."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import Scenario
from smlocal.check.jobs.request import s3_source
from smlocal.check.jobs.scenarios import JOB, compared, declared, empty_channel
from smlocal.check.subject import Subject


def _channels(subject: Subject) -> tuple[str, ...]:
    declared(subject, "which channels there are")
    request = subject.jobs.request
    names = [name for name in subject.jobs.channels if s3_source(request, name).get("S3DataType") == "S3Prefix"]
    if not names:
        raise CannotLookError("the job has no channel with S3DataType: S3Prefix")
    return tuple(names)


def _jobs(subject: Subject) -> Iterable[Scenario]:
    return [empty_channel(name) for name in _channels(subject)]


def _check(subject: Subject) -> Iterator[Finding]:
    for name in _channels(subject):
        scenario = empty_channel(name)
        result = compared(subject, scenario)
        if result.timed_out or (not result.completed and not result.explanation):
            message = f"with an empty file in the channel {name}, the job does not name the problem: {result.how}"
            yield Finding(message=message, job=scenario.id, details=result.reason_lines)


RULE = Rule(
    id="empty-channel-unexplained",
    severity=Severity.WARNING,
    title="With an empty channel, the job hangs or fails without a reason",
    why=(
        "The service refuses a channel without objects, but objects may be empty: an upload that failed, or an object "
        "that only marks a folder. A job that cannot continue should write the reason to `/opt/ml/output/failure`, "
        "which becomes the FailureReason. The check runs one job for each channel, in which that channel has a single "
        "empty file."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Check that there is data, and write to /opt/ml/output/failure which channel has none.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ngrep -q , /opt/ml/input/data/training/* || exit 1\n"),),
        good_files=(
            (
                "train",
                (
                    "#!/bin/sh\ngrep -q , /opt/ml/input/data/training/* && exit\n"
                    'echo "The channel training has no data." >/opt/ml/output/failure\nexit 1\n'
                ),
            ),
        ),
        bad_job=JOB,
        output=(
            "with an empty file in the channel training, the job does not name the problem: "
            "Failed: AlgorithmError: , exit code: 1"
        ),
    ),
)
