"""A job that completes and leaves nothing."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import completed_plain
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    plain = completed_plain(subject)
    if not plain.model:
        yield Finding(
            message="the job completes and leaves nothing in /opt/ml/model",
            job=PLAIN.id,
            severity=Severity.ERROR if plain.failure_files else None,
        )


RULE = Rule(
    id="no-model",
    severity=Severity.WARNING,
    title="The job leaves no model",
    why=(
        "The service uploads the files that a job leaves in `/opt/ml/model`, as model.tar.gz. A model that is written "
        "elsewhere is lost with the container, and the job is still Completed. If there is a failure file too, the "
        "job has failed unnoticed, and this is an error."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write the model below /opt/ml/model.",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nmkdir /models && echo 1 >/models/weights\n"),),
        good_files=(("train", "#!/bin/sh\necho 1 >/opt/ml/model/weights\n"),),
        output="the job completes and leaves nothing in /opt/ml/model",
    ),
)
