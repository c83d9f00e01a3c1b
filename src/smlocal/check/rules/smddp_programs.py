"""The launcher of the distributed data parallel library."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import has_program
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if not has_program(subject, "smddprun"):
        yield Finding(message="the image has no smddprun on the PATH: the job runs as plain MPI")


RULE = Rule(
    id="smddp-programs",
    severity=Severity.WARNING,
    title="The image lacks the launcher of SMDDP",
    why=(
        "With `sagemaker_distributed_dataparallel_enabled` the training toolkit puts smddprun before the script if it "
        "is on the PATH. If not, it prints a warning and starts the script with plain MPI: the job succeeds without "
        "the library that was asked for."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Use an image of AWS that has the library, or install its wheel.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /opt/smddprun\n",
        good="FROM python:3.11-slim-bookworm\nCOPY program /usr/local/bin/smddprun\n",
        bad_files=(("program", "#!/bin/sh\n"),),
        options=("--for", "smddp"),
        output="the image has no smddprun on the PATH: the job runs as plain MPI",
    ),
)
