"""SIGTERM in a job of ModelTrainer."""

from collections.abc import Iterator

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import words_of
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.jobs.planning.aspects.image.plan import MODEL_TRAINER_STOP, is_model_trainer

_PROFILES = frozenset({LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI})


def _check(subject: Subject) -> Iterator[Finding]:
    if _PROFILES & subject.profiles or is_model_trainer(words_of(subject)):
        yield Finding(message=MODEL_TRAINER_STOP)
    elif subject.job is None:
        raise CannotLookError("needs a job file that says what starts the program", test=JOB_FILE_NEEDED)


RULE = Rule(
    id="model-trainer-stop",
    severity=Severity.INFO,
    title="A job of ModelTrainer does not receive SIGTERM",
    why=(
        "ModelTrainer of the SageMaker SDK version 3 starts its jobs with `/bin/bash -c`, and bash stays the first "
        "process. It has no handler for SIGTERM and does not pass the signal on. Tried with bash 5.2: a container "
        "started in this form ignores the stop and is killed at the end of the grace period. That the service behaves "
        "the same is inferred."
    ),
    mark=Mark.INFERRED,
    remedy="Write checkpoints regularly, not only when SIGTERM arrives.",
    check=_check,
    profiles=_PROFILES,
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job=(
            "AlgorithmSpecification:\n"
            "  TrainingInputMode: File\n"
            "  ContainerEntrypoint: [/bin/bash]\n"
            "  ContainerArguments:\n"
            "    - -c\n"
            "    - chmod +x /opt/ml/input/data/sm_drivers/sm_train.sh && /opt/ml/input/data/sm_drivers/sm_train.sh\n"
        ),
        good_job="AlgorithmSpecification: {TrainingInputMode: File}\n",
        output=(
            "the first process of a ModelTrainer job is bash, which does not pass SIGTERM on: each stop takes the "
            "whole grace period, and a checkpoint that is written on SIGTERM is lost"
        ),
    ),
)
