"""A job that takes the manifest of a channel for data."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths


def _check(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    if not subject.jobs.channels:
        raise CannotLookError("the job has no channels")
    if result.completed:
        return
    said = f"{result.reason}\n{result.log}"
    names = [name for name in subject.jobs.channels if f"{name}-manifest" in said]
    if not names:
        raise CannotLookError(
            "the job does not complete, and does not name a manifest as the reason",
            (result.how, *result.reason_lines),
            test="make it complete first",
        )
    for name in names:
        path = paths.channel_manifest(name)
        yield Finding(message=f"the job fails and names {path}, which is not a channel", path=path, job=PLAIN.id)


RULE = Rule(
    id="manifest-taken-for-data",
    severity=Severity.ERROR,
    title="The job takes the manifest of a channel for a channel",
    why=(
        "Next to the folder `/opt/ml/input/data/CHANNEL` of a channel in File mode, the service writes the text file "
        "`CHANNEL-manifest`, which lists its objects. Local mode of the SageMaker SDK does not. A program that takes "
        "everything in `/opt/ml/input/data` for a channel fails, or trains on the list."
    ),
    mark=Mark.SEEN,
    remedy="Take the names of the channels from inputdataconfig.json.",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nset -e\nfor each in /opt/ml/input/data/*; do cd $each; done\n"),),
        good_files=(("train", "#!/bin/sh\nset -e\nfor each in /opt/ml/input/data/*/; do cd $each; done\n"),),
        output=("the job fails and names /opt/ml/input/data/training-manifest, which is not a channel"),
    ),
)
