"""A variable of the image that the service sets itself."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import INTERFACE

_SET = {
    "TRAINING_JOB_NAME": "",
    "TRAINING_JOB_ARN": "",
    "AWS_REGION": "",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
    "DMLC_INTERFACE": INTERFACE,
    "SAGEMAKER_METRICS_DIRECTORY": paths.METRICS,
    "HOSTNAME": "",
}
"""Variables that the service sets, with the value that is always the same, where there is one."""


def _check(subject: Subject) -> Iterator[Finding]:
    for name, usual in _SET.items():
        value = subject.facts.environment.get(name)
        if value is not None and value != usual:
            yield Finding(message=f"ENV {name} has no effect: the service sets it", instruction=f"ENV {name}")


RULE = Rule(
    id="variable-overridden",
    severity=Severity.WARNING,
    title="The image sets a variable that the service overrides",
    why=(
        "The service sets the name and ARN of the job, the region, the address of the credentials and a few more "
        "variables in each container. A value from the image is replaced, so a program that relies on it behaves "
        "differently in a job."
    ),
    mark=Mark.SEEN,
    remedy="Remove it from the image, and read the value that the service sets.",
    check=_check,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENV AWS_REGION=eu-west-1\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="ENV AWS_REGION has no effect: the service sets it",
    ),
)
