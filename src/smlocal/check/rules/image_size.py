"""An image that is large for the disk of the instance."""

from collections.abc import Iterator

from smlocal.base.readable import readable_bytes
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject

_GIB = 1 << 30
_ROOT_DISK = 96 << 30
"""Bytes of the root file system of an instance that a user measured."""


def _check(subject: Subject) -> Iterator[Finding]:
    size = subject.facts.size
    resources = subject.job.request.ResourceConfig if subject.job is not None else None
    volume = resources.VolumeSizeInGB if resources is not None else None
    if volume and size > volume * _GIB:
        yield Finding(message=f"the image takes {readable_bytes(size)}, more than the {volume} GiB of VolumeSizeInGB")
    elif size > _ROOT_DISK:
        yield Finding(
            message=f"the image takes {readable_bytes(size)}; a root disk of {readable_bytes(_ROOT_DISK)} was seen"
        )


RULE = Rule(
    id="image-size",
    severity=Severity.WARNING,
    title="The image is large for the disk of the instance",
    why=(
        "An image is unpacked on a disk of the instance before the job starts. AWS does not document which disk: it "
        "may be the volume of the job, whose size is VolumeSizeInGB, or the root disk, of which a user saw 96 GB. If "
        "it does not fit, the job cannot start."
    ),
    mark=Mark.INFERRED,
    remedy="Make the image smaller, keep weights and data in channels, or increase VolumeSizeInGB.",
    check=_check,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nRUN dd if=/dev/zero of=/weights bs=1M count=1100\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job="ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}\n",
        output="the image takes 1.1 GiB, more than the 1 GiB of VolumeSizeInGB",
    ),
)
