"""The needs of the processors of the SageMaker SDK."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import missing
from smlocal.check.subject import LaunchProfile, Subject

_PROGRAMS_OF_IT = ("python3", "python", "/bin/bash", "tar", "pip")


def _check(subject: Subject) -> Iterator[Finding]:
    if subject.processing is None or not subject.processing.entrypoint:
        yield from missing(subject, "a processor of the SDK", programs=_PROGRAMS_OF_IT)


RULE = Rule(
    id="processing-programs",
    severity=Severity.WARNING,
    title="The image lacks a program that the processors of the SDK start",
    why=(
        "ScriptProcessor and SKLearnProcessor of the SageMaker SDK start a script with the command that they are "
        "given, which is python3 for most images. FrameworkProcessor starts a script of bash, which unpacks the code "
        "with tar, installs requirements.txt with pip and calls python. Processor starts the image's own command, and "
        "a job file with a ContainerEntrypoint its own."
    ),
    mark=Mark.SEEN,
    remedy="Install Python, pip, bash and tar in the image; ignore it for an image with a program of its own.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.PROCESSING}),
    example=Example(
        bad="FROM busybox\n",
        good="FROM python:3.11-slim-bookworm\n",
        options=("--for", "processing"),
        output=(
            "the image has no python3 on the PATH, which a processor of the SDK starts\n"
            "the image has no python on the PATH, which a processor of the SDK starts\n"
            "the image has no /bin/bash, which a processor of the SDK starts\n"
            "the image has no pip on the PATH, which a processor of the SDK starts"
        ),
    ),
)
