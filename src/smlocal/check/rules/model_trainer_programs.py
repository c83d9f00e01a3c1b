"""The needs of the launcher of ModelTrainer."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import missing
from smlocal.check.subject import LaunchProfile, Subject

PROGRAMS_OF_IT = ("/bin/bash", "chmod", ("python3", "python"), ("pip3", "pip"))


def _check(subject: Subject) -> Iterator[Finding]:
    yield from missing(subject, "ModelTrainer", programs=PROGRAMS_OF_IT)


RULE = Rule(
    id="model-trainer-programs",
    severity=Severity.ERROR,
    title="The image lacks a program that ModelTrainer starts",
    why=(
        "ModelTrainer of the SageMaker SDK version 3 replaces the entry point of the image by `/bin/bash -c`, makes "
        "its script in a channel executable and runs it. The script looks for python3 or python, and for pip3 or pip "
        "to install requirements.txt."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install bash, Python and pip in the image.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI}),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        options=("--for", "model-trainer"),
        output=(
            "the image has no /bin/bash, which ModelTrainer starts\n"
            "the image has no python3 or python on the PATH, which ModelTrainer starts\n"
            "the image has no pip3 or pip on the PATH, which ModelTrainer starts"
        ),
    ),
)
