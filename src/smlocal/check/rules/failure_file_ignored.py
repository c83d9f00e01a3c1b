"""A job that writes why it failed, and exits with 0."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import completed_plain
from smlocal.check.subject import Subject

_SHOWN = 200


def _check(subject: Subject) -> Iterator[Finding]:
    plain = completed_plain(subject)
    for host, text in plain.failure_files.items():
        first = text.strip().splitlines()[0][:_SHOWN]
        yield Finding(
            message=f'the job writes "{first}" to /opt/ml/output/failure and completes, because it exits with 0',
            job=PLAIN.id,
            host=host if len(plain.hosts) > 1 else "",
        )


RULE = Rule(
    id="failure-file-ignored",
    severity=Severity.ERROR,
    title="The job writes a failure file and exits with 0",
    why=(
        "The exit code alone decides how a job ends: it is Completed if all containers exit with 0. The failure file is"
        " read only after another exit code. A program that catches an exception, writes the file and returns is"
        " Completed on the service, and its message is lost."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Exit with a code other than 0 after writing the failure file, for example with sys.exit(1).",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            (
                "train",
                "#!/bin/sh\ntouch /opt/ml/model/weights\n[ -e /table ] || echo no table >/opt/ml/output/failure\n",
            ),
        ),
        good_files=(("train", "#!/bin/sh\ntouch /opt/ml/model/weights\n"),),
        output='the job writes "no table" to /opt/ml/output/failure and completes, because it exits with 0',
    ),
)
