"""The needs of the launcher of remote functions."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import missing, user_of
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    sudo = () if user_of(subject).is_root else ("sudo",)
    yield from missing(subject, "a remote function", programs=("/bin/bash", ("python", "python3"), *sudo))


RULE = Rule(
    id="remote-function-programs",
    severity=Severity.ERROR,
    title="The image lacks a program that remote functions start",
    why=(
        "A function with the decorator `@remote` is run by a script of the SDK in bash, and then by Python. If the "
        "user of the image is not root, the script calls sudo to open `/opt/ml/input`, `/opt/ml/output`, "
        "`/opt/ml/model` and `/tmp` to that user."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Install bash and Python, and sudo without a password if the USER of the image is not root.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.REMOTE_FUNCTION}),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nUSER nobody\n",
        good="FROM python:3.11-slim-bookworm\nUSER root\n",
        options=("--for", "remote-function"),
        output="the image has no sudo on the PATH, which a remote function starts",
    ),
)
