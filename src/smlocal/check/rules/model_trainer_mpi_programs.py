"""The needs of the MPI driver of ModelTrainer."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import missing
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    yield from missing(
        subject,
        "the MPI driver of ModelTrainer",
        programs=("/usr/sbin/sshd", "ssh", "mpirun"),
        modules=("paramiko", "mpi4py"),
    )


RULE = Rule(
    id="model-trainer-mpi-programs",
    severity=Severity.ERROR,
    title="The image lacks something that the MPI driver of ModelTrainer needs",
    why=(
        "With Distributed MPI, ModelTrainer starts /usr/sbin/sshd on each host, waits for the others with paramiko, "
        "and starts the script with mpirun and mpi4py. It installs none of them."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install openssh-server, openssh-client, openmpi-bin, paramiko and mpi4py in the image.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.MODEL_TRAINER_MPI}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /usr/bin/mpirun\n",
        good=(
            "FROM python:3.11-slim-bookworm\nCOPY program /usr/bin/mpirun\nCOPY program /usr/bin/ssh\n"
            "COPY program /usr/sbin/sshd\nCOPY module.py /usr/local/lib/python3.11/dist-packages/paramiko.py\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/mpi4py/__init__.py\n"
        ),
        bad_files=(("program", "#!/bin/sh\n"), ("module.py", "")),
        options=("--for", "model-trainer=mpi"),
        output=(
            "the image has no /usr/sbin/sshd, which the MPI driver of ModelTrainer starts\n"
            "the image has no ssh on the PATH, which the MPI driver of ModelTrainer starts\n"
            "the image has no Python package paramiko, which the MPI driver of ModelTrainer imports\n"
            "the image has no Python package mpi4py, which the MPI driver of ModelTrainer imports"
        ),
    ),
)
