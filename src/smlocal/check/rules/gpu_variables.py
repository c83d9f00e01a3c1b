"""An image for GPUs that does not ask for them."""

import re
from collections.abc import Iterator

from smlocal.check.image_files import NAMES
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject

_CUDA = re.compile(r"(?:libcudart\.so[.\d]*|libtorch_cuda\.so|libcublas\.so[.\d]*|nvcc)$")
_DEVICES, _ABILITIES = "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"
_NONE = {"", "void", "none"}
_ENOUGH = {"compute", "all"}


def _check(subject: Subject) -> Iterator[Finding]:
    cuda = min(subject.files.named(_CUDA), default=None)
    if cuda is None:
        return
    environment = {**subject.facts.environment, **subject.requested_environment}
    wrong = []
    if environment.get(_DEVICES, "") in _NONE:
        wrong.append(f"{_DEVICES}=all")
    if not _ENOUGH & set(environment.get(_ABILITIES, "").split(",")):
        wrong.append(f"{_ABILITIES}=compute,utility")
    if wrong:
        yield Finding(
            message=f"the image has CUDA ({cuda.path}) and does not set {' and '.join(wrong)}",
            path=cuda.path,
            layer=cuda.entry.layer,
        )


RULE = Rule(
    id="gpu-variables",
    severity=Severity.WARNING,
    title="The image has CUDA and does not ask for GPUs",
    why=(
        "AWS asks that images for GPUs work with nvidia-docker. NVIDIA's container runtime uses two variables: "
        "without NVIDIA_VISIBLE_DEVICES a container may get no GPU, and without `compute` in "
        "NVIDIA_DRIVER_CAPABILITIES no CUDA. The images of NVIDIA and AWS set both. Whether the service sets them for "
        "other images is not documented."
    ),
    mark=Mark.INFERRED,
    remedy=(
        "Add ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility, or start from an image of "
        "NVIDIA."
    ),
    check=_check,
    files=(NAMES,),
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcudart.so /usr/local/cuda/lib64/libcudart.so.12\n",
        good=(
            "FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcudart.so /usr/local/cuda/lib64/libcudart.so.12\n"
            "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n"
        ),
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'), ("libcudart.so", "a library\n")),
        output=(
            "the image has CUDA (/usr/local/cuda/lib64/libcudart.so.12) and does not set NVIDIA_VISIBLE_DEVICES=all "
            "and NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        ),
    ),
)
