"""A job that fails in Pipe mode."""

from smlocal.check.interface import Example, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.jobs.scenarios import JOB, fails_in, need_channels_in
from smlocal.check.subject import Subject


def _jobs(subject: Subject) -> tuple[Scenario]:
    need_channels_in(subject, "Pipe")
    return (PLAIN,)


RULE = Rule(
    id="pipe-mode-fails",
    severity=Severity.ERROR,
    title="The job fails in Pipe mode, and not in File mode",
    why=(
        "In Pipe mode a channel has no folder. Each epoch is a FIFO of its own, "
        "`/opt/ml/input/data/CHANNEL_0`, `CHANNEL_1`, …, which can be read once, from its beginning to its end. If the "
        "job fails, it is run again with these channels in File mode, to see whether the mode is to blame."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Read one FIFO for each epoch, without seeking in it; or ask for File or FastFile mode.",
    check=lambda subject: fails_in(subject, "Pipe"),
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 4\n"),),
        good_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training_0 || exit 4\n"),),
        bad_job=JOB + "    InputMode: Pipe\n",
        output=(
            "the job completes with training in File mode, but not in Pipe mode: Failed: AlgorithmError: , exit code: 4"
        ),
    ),
)
