"""A job that fails in FastFile mode."""

from smlocal.check.interface import Example, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.jobs.scenarios import JOB, fails_in, need_channels_in
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> tuple[Scenario]:
    need_channels_in(subject, "FastFile")
    return (PLAIN,)


RULE = Rule(
    id="fast-file-mode-fails",
    severity=Severity.ERROR,
    title="The job fails in FastFile mode, and not in File mode",
    why=(
        "In FastFile mode the folder of a channel shows the objects, and reading them streams them from S3. Nothing "
        "can be written there. If the job fails, it is run again with these channels in File mode, to see whether the"
        " mode is to blame."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write files to /tmp instead, or use File mode.",
    check=lambda subject: fails_in(subject, "FastFile"),
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ntouch /opt/ml/input/data/training/index || exit 4\n"),),
        good_files=(("train", "#!/bin/sh\ntouch /tmp/index || exit 4\n"),),
        bad_job=JOB + "    InputMode: FastFile\n",
        output=(
            "the job completes with training in File mode, but not in FastFile mode: "
            "Failed: AlgorithmError: , exit code: 4"
        ),
    ),
)
