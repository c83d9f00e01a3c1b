"""The runtimes of an engine, and which of them give GPUs to containers that do not ask the engine for any.

NVIDIA's runtime, and its hook for Podman, go by the variable NVIDIA_VISIBLE_DEVICES, which the images of NVIDIA set to
`all`. Where it is the engine's usual runtime, such an image gets all GPUs in every container.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from smlocal.engine.facts import Product

_NVIDIA: Final = "nvidia"
_PLAIN: Final = ("runc", "crun")
_HOOKS: Final = ("/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d")


def plain_runtime(
    info: Mapping[str, Any], product: Product, *, local: bool, hooks: Sequence[str] = _HOOKS
) -> str | None:
    """As `Engine.plain_runtime`, from the answer to `/info`."""
    runtimes = info.get("Runtimes") or {}
    usual = info.get("DefaultRuntime") or ""
    nvidia = _is_nvidia(usual, runtimes.get(usual))
    if product == "podman":
        # It takes no runtime from a request. The hooks of another machine are not known.
        return "" if local and not nvidia and not _has_hook(hooks) else None
    if not nvidia:
        return ""
    return next((name for name in _PLAIN if name in runtimes and not _is_nvidia(name, runtimes[name])), None)


def _is_nvidia(name: str, runtime: Any) -> bool:
    return _NVIDIA in f"{name} {runtime}".lower()


def _has_hook(folders: Sequence[str]) -> bool:
    for folder in folders:
        with suppress(OSError):
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    if _NVIDIA.encode() in file.read().lower():
                        return True
    return False
