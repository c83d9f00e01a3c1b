"""Libraries of the NVIDIA driver in the image."""

import posixpath
import re
from collections.abc import Iterator

from smlocal.check.image_files import NAMES, FoundFile
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject

_DRIVER = re.compile(
    r"libcuda\.so(?:\.\d+)*$"
    r"|(?:libnvidia-(?!container)[a-z0-9-]+|libcudadebugger|libnvcuvid|libnvoptix)\.so\.\d+\.\d+(?:\.\d+)?$"
    r"|nvidia-smi$"
)
_OTHER = re.compile(r"/(?:stubs|compat)/")
"""Stand-ins to link with, and libraries for older drivers, which belong in images."""


def _check(subject: Subject) -> Iterator[Finding]:
    by_folder: dict[str, list[FoundFile]] = {}
    for found in subject.files.named(_DRIVER):
        if found.entry.kind == "file" and not _OTHER.search(found.path):
            by_folder.setdefault(posixpath.dirname(found.path), []).append(found)
    for folder, files in sorted(by_folder.items()):
        first = min(files)
        more = f" and {len(files) - 1} more in {folder}" if len(files) > 1 else ""
        empty = ", empty" if all(found.entry.size == 0 for found in files) else ""
        yield Finding(
            message=f"{first.path}{more} belongs to the NVIDIA driver{empty}", path=first.path, layer=first.entry.layer
        )


RULE = Rule(
    id="gpu-driver",
    severity=Severity.ERROR,
    title="The image has libraries of the NVIDIA driver",
    why=(
        "An image for GPUs has the CUDA toolkit and not the driver. The instance has the driver, and the container "
        "runtime puts its libraries into the container. Libraries of another version in the image can hide them, and "
        "CUDA then fails to start."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Do not install nvidia-driver or libnvidia packages; start from an image that has only the CUDA toolkit.",
    check=_check,
    files=(NAMES,),
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcuda.so /usr/lib/libcuda.so.535.54.03\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nCOPY libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'), ("libcuda.so", "a library\n")),
        output="/usr/lib/libcuda.so.535.54.03 belongs to the NVIDIA driver",
    ),
)
