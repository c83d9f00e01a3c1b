"""A copy-on-write view of a folder, made by the engine's own volume driver."""

import os
from collections.abc import Mapping

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError

_RENAMES = ",redirect_dir=on,index=off"
"""Folders of `lower` can be renamed, and hard links there become separate files, as objects are. Kernels before 4.13
refuse the overlay."""
_METADATA_ONLY = ",metacopy=on"
"""chmod and chown do not copy the data of a file. For kernels from 4.19 on."""
_METACOPY_PARAMETER = "/sys/module/overlay/parameters/metacopy"
_ROOTLESS = ",userxattr"
"""Without it folders of `lower` could not be removed: only root can set the usual attributes. The kernel does not
allow `redirect_dir` with it, so folders cannot be renamed. Kernels before 5.11 refuse the overlay."""
_REFUSED = "failed to mount local volume"


def overlay_volume(
    lower: str, *, engine: Engine, name: str, labels: Mapping[str, str], rootless: bool
) -> tuple[str, str]:
    """Make a volume that shows `lower` and keeps all changes in two plain volumes.

    Returns its name, and the folder of the changes on the engine's machine. Plain volumes, not folders of the user: the
    kernel's work folder has mode 000, and only root could remove it. The engine mounts, and reports errors, only when a
    container starts.
    """
    upper = engine.create_volume(f"{name}-upper", labels, {})
    work = engine.create_volume(f"{name}-work", labels, {})
    layers = f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
    options = _ROOTLESS if rootless else _RENAMES
    if not rootless and os.path.exists(_METACOPY_PARAMETER):
        options += _METADATA_ONLY
    engine.create_volume(name, labels, {"type": "overlay", "device": "overlay", "o": layers + options})
    return name, upper


def is_overlay_refusal(error: EngineError) -> bool:
    """Whether a start failed because the kernel refused the overlay: a copy still works."""
    return _REFUSED in error.sentence


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
