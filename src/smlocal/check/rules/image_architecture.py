"""An image for other processors than those of the job's instances."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine

_NAMES = {"x86_64": "amd64"}
"""In the words of images, where they differ from those of the table."""
_USUAL = "amd64"


def _check(subject: Subject) -> Iterator[Finding]:
    has = subject.facts.architecture
    for name, wanted in _wanted(subject).items():
        if has != wanted:
            where = f"the instance type {name} runs" if name else "nearly all instance types run"
            yield Finding(
                message=f"the image is built for linux/{has}, {where} linux/{wanted}: exec format error",
                instruction="FROM",
            )


def _wanted(subject: Subject) -> dict[str, str]:
    """The processors of the instance types of the job; without a job, the usual ones."""
    resources = subject.job.request.ResourceConfig if subject.job is not None else None
    if resources is None:
        return {"": _USUAL}
    found = {}
    for each in (*(resources.InstanceGroups or ()), resources):
        if each.InstanceType and not is_this_machine(each.InstanceType):
            architecture = instance_type(each.InstanceType).architecture
            found[str(each.InstanceType)] = _NAMES.get(architecture, architecture)
    return found


RULE = Rule(
    id="image-architecture",
    severity=Severity.ERROR,
    title="The image is built for another processor than the service's",
    why=(
        "Nearly all instance types have x86 processors. An image that is built on a laptop with an ARM processor "
        "(Apple silicon, Graviton) is for ARM unless the builder is told otherwise, and its job fails with `exec "
        "format error`."
    ),
    mark=Mark.SEEN,
    remedy="Build it with docker build --platform linux/amd64, or for the processor of the job's instance type.",
    check=_check,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job="ResourceConfig: {InstanceType: ml.p6e-gb200.36xlarge, InstanceCount: 1, VolumeSizeInGB: 30}\n",
        good_job="ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 30}\n",
        output=(
            "the image is built for linux/amd64, the instance type ml.p6e-gb200.36xlarge runs linux/arm64: exec format "
            "error"
        ),
    ),
)
