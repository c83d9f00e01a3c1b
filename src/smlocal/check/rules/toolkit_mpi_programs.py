"""The needs of the MPI launcher of the training toolkit."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import missing
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    yield from missing(
        subject, "the MPI launcher of the toolkit", programs=("/usr/sbin/sshd", "mpirun"), modules=("mpi4py",)
    )


RULE = Rule(
    id="toolkit-mpi-programs",
    severity=Severity.ERROR,
    title="The image lacks something that the MPI launcher of the toolkit needs",
    why=(
        "With `sagemaker_mpi_enabled` the training toolkit starts /usr/sbin/sshd on each host and then `mpirun … "
        "python -m mpi4py` on the first one. It looks for these programs on the PATH and installs none of them."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install openssh-server, openmpi-bin and mpi4py in the image.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.TOOLKIT_MPI, LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY program /usr/sbin/sshd\n",
        good=(
            "FROM python:3.11-slim-bookworm\nCOPY program /usr/sbin/sshd\nCOPY program /usr/bin/mpirun\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/mpi4py/__init__.py\n"
        ),
        bad_files=(("program", "#!/bin/sh\n"), ("module.py", "")),
        options=("--for", "toolkit-mpi"),
        output=(
            "the image has no mpirun on the PATH, which the MPI launcher of the toolkit starts\n"
            "the image has no Python package mpi4py, which the MPI launcher of the toolkit imports"
        ),
    ),
)
