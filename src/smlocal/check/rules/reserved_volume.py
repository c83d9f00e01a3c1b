"""A VOLUME below `/opt/ml`."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths


def _check(subject: Subject) -> Iterator[Finding]:
    for volume in subject.facts.volumes:
        path = f"{volume.rstrip('/')}/"
        if path.startswith(f"{paths.ROOT}/") and not path.startswith(f"{paths.CODE}/"):
            yield Finding(
                message=f"VOLUME {volume} lies where the service mounts its own folders",
                path=volume,
                instruction=f"VOLUME {volume}",
            )


RULE = Rule(
    id="reserved-volume",
    severity=Severity.WARNING,
    title="The image declares a VOLUME below /opt/ml",
    why=(
        "The service reserves `/opt/ml` and everything below it. An engine mounts an empty volume at each path that "
        "the image declares. Which of the two is visible depends on the order, and files in a volume of the engine are "
        "never uploaded."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Remove the VOLUME instruction; the service makes these folders.",
    check=_check,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nVOLUME /opt/ml/model\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="VOLUME /opt/ml/model lies where the service mounts its own folders",
    ),
)
