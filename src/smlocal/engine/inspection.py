"""Details about an engine: for `smlocal doctor`, with an empty image to try things with, and the room on its disk."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.client import Client
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.engine_facts import cannot_limit, has_our_mounts, is_rootless
from smlocal.engine.http import quote
from smlocal.errors import EngineError

_EMPTY_ARCHIVE = bytes(1024)
"""An empty tar. An image made of it contains no program, which is enough to test a start that fails."""
_ABSENT = 404


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineDetails:
    """The engine's report about itself and its machine."""

    product: str
    """Docker or Podman."""
    version: str
    api: tuple[int, int]
    storage_driver: str
    root: str
    """The folder of images and volumes on the engine's machine."""
    cgroup_version: str
    unlimited: tuple[str, ...]
    """Which of `memory` and `CPUs` it cannot limit."""
    cpus: int
    memory: int
    """Bytes."""
    rootless: bool
    kernel: str
    operating_system: str
    """Of the engine's machine, such as `Docker Desktop` or `Alpine Linux v3.20`."""
    system_time: float | None
    """Seconds since the epoch by the engine's clock; None if not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRecord:
    """An image as the engine lists it."""

    id: str
    created: float
    labels: Mapping[str, str]


class Inspection:
    """Calls to an engine that jobs do not need."""

    def __init__(self, endpoint: EngineAddress) -> None:
        """Store the address; nothing is sent yet."""
        self._client = Client(endpoint)

    def details(self) -> EngineDetails:
        """Ask the engine for everything about itself. Where it may not be asked, its machine is this one."""
        version = self._client.read("/version")
        if self._client.place is None:
            return engine_details(version, self._client.read("/info"))
        return replace(
            engine_details(version, {}),
            unlimited=(),
            cpus=os.cpu_count() or 0,
            memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            kernel=os.uname().release,
        )

    def make_empty_image(self, name: str, labels: Mapping[str, str]) -> None:
        """Make an image without files. The name must have no tag, which Podman does not accept here."""
        if self._client.place is not None:
            from smlocal.engine.place_build import build_empty  # for few users

            build_empty(self._client, self._client.place, name, labels)
            return
        changes = "LABEL " + " ".join(f"{key}={value}" for key, value in labels.items())
        parameters = {"fromSrc": "-", "repo": name, "changes": changes}
        headers = {"Content-Type": "application/x-tar"}
        with self._client.ask(
            "POST", "/images/create", parameters=parameters, data=_EMPTY_ARCHIVE, headers=headers
        ) as answer:
            for line in answer.read().splitlines():
                if trouble := json.loads(line or b"{}").get("error"):
                    raise EngineError(trouble)

    def images_with(self, label: str) -> list[ImageRecord]:
        """The images that have a label with this value, written `name=value`."""
        found = self._client.read("/images/json", parameters={"filters": json.dumps({"label": [label]})})
        return [
            ImageRecord(id=each["Id"], created=float(each.get("Created") or 0), labels=each.get("Labels") or {})
            for each in found or ()
        ]

    def remove_image(self, name: str) -> None:
        """Remove an image; no error if it does not exist."""
        self._client.tell("DELETE", f"/images/{quote(name)}", parameters={"force": "1"}, fine={_ABSENT})

    def shared_memory(self, container: str) -> int:
        """The default size of /dev/shm in a container."""
        document = self._client.read(f"/containers/{container}/json")
        return int((document.get("HostConfig") or {}).get("ShmSize") or 0)


def engine_details(version: Mapping[str, Any], info: Mapping[str, Any]) -> EngineDetails:
    """From the answers to `/version` and `/info`; missing values are empty or zero."""
    components = [str(each.get("Name") or "") for each in version.get("Components") or ()]
    product = "Podman" if any("Podman" in name for name in components) else "Docker"
    return EngineDetails(
        product=product,
        version=str(version.get("Version") or info.get("ServerVersion") or ""),
        api=_numbers(version.get("ApiVersion") or ""),
        storage_driver=info.get("Driver") or "",
        root=info.get("DockerRootDir") or "",
        cgroup_version=str(info.get("CgroupVersion") or ""),
        unlimited=cannot_limit(info),
        cpus=info.get("NCPU") or 0,
        memory=info.get("MemTotal") or 0,
        rootless=is_rootless(info),
        kernel=info.get("KernelVersion") or "",
        operating_system=str(info.get("OperatingSystem") or ""),
        system_time=_seconds(info.get("SystemTime") or ""),
    )


def _numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return (int(major), int(minor.partition(".")[0])) if major.isdecimal() and minor[:1].isdecimal() else (0, 0)


def _seconds(stamp: str) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskRoom:
    """The room on an engine's disk, as seen from here."""

    folder: str
    free: int
    """In bytes, more than 0."""
    copies: bool
    """True if the engine writes an image to this disk before it delivers it."""


def disk_room(client: Client) -> DiskRoom | None:
    """The room on the engine's disk; None if this process does not see that disk, or may not ask."""
    if client.place is not None or not has_our_mounts(client.endpoint):
        return None
    details = client.read("/info")
    folder = details.get("DockerRootDir") or ""
    # A kernel other than ours means a virtual machine.
    if details.get("KernelVersion") != os.uname().release or not os.path.isdir(folder):
        return None
    free = free_bytes(folder)
    # containerd's own store of images writes no copy, and Podman writes it elsewhere.
    copies = client.product == "docker" and "io.containerd.snapshotter" not in str(details.get("DriverStatus"))
    return None if not free else DiskRoom(folder=folder, free=free, copies=copies)
