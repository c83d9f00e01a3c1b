"""A copy-on-write view of a folder, made by the engine's own volume driver."""

from collections.abc import Mapping

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError

_WITHOUT_ROOT = "userxattr"
"""Or else folders of `lower` could not be removed or renamed: the usual marks for that are root's alone. Kernels before
5.11 do not know it, and refuse the overlay."""
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
    if rootless:
        layers += f",{_WITHOUT_ROOT}"
    engine.create_volume(name, labels, {"type": "overlay", "device": "overlay", "o": layers})
    return name, upper


def is_overlay_refusal(error: EngineError) -> bool:
    """True for a start that failed because the kernel would not make the overlay: then a copy still works."""
    return _REFUSED in error.sentence


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
