"""A copy-on-write view of a folder, made by the engine's own volume driver."""

import os
from collections.abc import Mapping

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError

_AS_A_PLAIN_TREE = ",redirect_dir=on,index=off"
"""So that folders of `lower` can be renamed, and hard links there are separate files, as two objects are. Kernels
before 4.13 do not know both, and refuse the overlay."""
_METADATA_ALONE = ",metacopy=on"
"""So that chmod or chown does not copy the data of a file. Only for kernels that know it, from 4.19 on."""
_KNOWN = "/sys/module/overlay/parameters/metacopy"
_WITHOUT_ROOT = ",userxattr"
"""Or else folders of `lower` could not be removed: the usual marks for that are root's alone. The kernel does not allow
`redirect_dir` with it, so folders cannot be renamed. Kernels before 5.11 do not know it, and refuse the overlay."""
_REFUSED = "failed to mount local volume"


def overlay_volume(
    lower: str, *, engine: Engine, name: str, labels: Mapping[str, str], rootless: bool
) -> tuple[str, str]:
    """Make a volume that shows `lower` and keeps every change in two plain volumes.

    Returns its name, and where the changes lie on the engine's machine.

    Plain volumes, not folders of the user: the kernel's work folder is mode 000, and only root could remove it.
    Removing the three volumes leaves nothing behind. The engine mounts, and complains, only when a container starts.
    """
    upper = engine.create_volume(f"{name}-upper", labels, {})
    work = engine.create_volume(f"{name}-work", labels, {})
    layers = f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
    options = _WITHOUT_ROOT if rootless else _AS_A_PLAIN_TREE
    if not rootless and os.path.exists(_KNOWN):
        options += _METADATA_ALONE
    engine.create_volume(name, labels, {"type": "overlay", "device": "overlay", "o": layers + options})
    return name, upper


def is_overlay_refusal(error: EngineError) -> bool:
    """True for a start that failed because the kernel would not make the overlay: then a copy still works."""
    return _REFUSED in error.sentence


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
