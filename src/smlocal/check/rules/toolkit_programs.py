"""The training toolkit, where a launcher relies on it."""

from collections.abc import Iterator

from smlocal.check.image_files import NAMES
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import TOOLKITS, has_toolkit
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if not has_toolkit(subject.files):
        yield Finding(message=f"the image has no Python package {' or '.join(TOOLKITS)}")


RULE = Rule(
    id="toolkit-programs",
    severity=Severity.ERROR,
    title="The image lacks the training toolkit",
    why=(
        "Estimators with an `entry_point` leave it to the SageMaker training toolkit in the image to fetch the source, "
        "to install its requirements and to start the script. Without the toolkit the script is never started."
    ),
    mark=Mark.DOCUMENTED,
    remedy="RUN pip install sagemaker-training.",
    check=_check,
    files=(NAMES,),
    profiles=frozenset({LaunchProfile.TOOLKIT, LaunchProfile.TOOLKIT_MPI, LaunchProfile.SMDDP}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY module.py /opt/program/module.py\n",
        good=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY module.py /usr/local/lib/python3.11/dist-packages/sagemaker_training/__init__.py\n"
        ),
        bad_files=(("module.py", ""),),
        options=("--for", "toolkit"),
        output="the image has no Python package sagemaker_training or sagemaker_containers",
    ),
)
