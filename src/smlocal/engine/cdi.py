"""Finds GPUs that the engine has as devices of the Container Device Interface (CDI)."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

_KIND: Final = "nvidia.com/gpu="
_KIND_IN_FILE: Final = "nvidia.com/gpu"
_LARGEST = 1 << 20
_SPECIFICATIONS: Final = (".yaml", ".yml", ".json")


def cdi_gpus(info: Mapping[str, Any], *, local: bool) -> tuple[str, ...] | None:
    """The GPUs in an engine's answer to `/info`, by number if possible, else by name; None without CDI.

    Docker 28.2 and newer list their devices. Docker 25 to 28.1 only report the folders of CDI specifications, or none
    if CDI is off; then the result is empty, and `nvidia-smi` tells which GPUs there are.
    """
    found = [str(each.get("ID", "")) for each in info.get("DiscoveredDevices") or () if isinstance(each, dict)]
    names = [each.removeprefix(_KIND) for each in found if each.startswith(_KIND) and each != f"{_KIND}all"]
    if names:
        # The same device may be listed by number and by UUID.
        return tuple(sorted((each for each in names if each.isdigit()), key=int)) or tuple(sorted(names))
    folders = info.get("CDISpecDirs") or []
    return () if local and any(_describes_gpus(path) for path in _specifications(folders)) else None


def _specifications(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        with suppress(OSError):
            yield from (f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(_SPECIFICATIONS))


def _describes_gpus(path: str) -> bool:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return _KIND_IN_FILE in file.read(_LARGEST)
    return False
