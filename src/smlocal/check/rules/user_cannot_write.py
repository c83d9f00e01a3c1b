"""A user who may not write the results."""

from collections.abc import Iterator

from smlocal.check.image_files import USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import UnknownUserError, user_of
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    try:
        user = user_of(subject)
    except UnknownUserError as error:
        yield Finding(message=f"{error}, so no container starts", instruction="USER")
        return
    if not user.is_root:
        yield Finding(
            message=(
                f"USER {subject.facts.user} (uid {user.uid}) may not write /opt/ml/model and /opt/ml/output, "
                "which belong to root"
            ),
            instruction="USER",
        )


RULE = Rule(
    id="user-cannot-write",
    severity=Severity.ERROR,
    title="The user of the image cannot write to /opt/ml",
    why=(
        "The folders that the service mounts below `/opt/ml` belong to root and have mode 0755, whatever owner they "
        "have in the image. Another user cannot write a model, a failure file or a checkpoint there, and the training "
        "toolkit cannot make `/opt/ml/code`."
    ),
    mark=Mark.SEEN,
    remedy="Run the image as root: remove the USER instruction, or end the Dockerfile with USER root.",
    check=_check,
    files=(USERS,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nUSER nobody\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nUSER root\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="USER nobody (uid 65534) may not write /opt/ml/model and /opt/ml/output, which belong to root",
    ),
)
