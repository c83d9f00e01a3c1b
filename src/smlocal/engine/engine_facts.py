"""Finds out the kind of the engine, who made its socket, and its abilities.

Requests are few: `/_ping` takes 0.5 ms, `/version` and `/info` 6 ms each, and a second on Podman. For this machine's
engine and the user's own Podman `/_ping` is enough, and the storage driver stays empty. Other engines (remote, rootless
Docker, in a virtual machine) are asked for everything.
"""

import os
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from smlocal.engine.client import Client
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import EngineFacts, Product

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_GREETINGS: Final = ("Docker", "Libpod")
"""The product names in the answer of Docker and Podman."""
_WHO = struct.Struct("3i")
"""Process, user and group of the other end of a socket."""
_LINUX = "Linux"
_OWN = frozenset({"podman", "systemd"})
"""Podman itself, or the user's systemd, which starts it. For a virtual machine another program listens."""
_OWN_ENGINES = _OWN | {"dockerd"}
"""Those of a user, which run in copies of the user's mounts."""
_KIND: Final = "nvidia.com/gpu="
_KIND_IN_FILE: Final = "nvidia.com/gpu"
_LARGEST = 1 << 20
_SPECIFICATIONS: Final = (".yaml", ".yml", ".json")
_NVIDIA: Final = "nvidia"
_PLAIN: Final = ("runc", "crun")
_HOOKS: Final = ("/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d")


def engine_facts(client: Client) -> EngineFacts:
    """Ask the engine what it is."""
    endpoint = client.endpoint
    # Before the first request: facts about an engine that starts again now must not count for later.
    identity = socket_identity(endpoint) if endpoint.local else ""
    greeting = client.greet()
    product, _, version = greeting.get("server", "").partition(" ")[0].partition("/")
    rootless = product == "Libpod" and is_rootless_podman(endpoint)
    # Some places make their socket as a user, and refuse further questions.
    known = client.place is not None or (product in _GREETINGS and is_owned_by_root(endpoint))
    if not rootless and not known:
        return _asked(client, version, identity)
    machine = os.uname().machine
    return EngineFacts(
        address=endpoint.address,
        local=True,
        shares_folders=True,
        version=version,
        architecture=_ARCHITECTURES.get(machine, machine),
        operating_system=greeting.get("ostype", "linux"),
        storage_driver="",
        rootless=rootless,
        product=client.product,
        identity=identity,
        named=bool(endpoint.name),
        place=client.place,
    )


def _asked(client: Client, version: str, identity: str) -> EngineFacts:
    """The engine's own facts."""
    endpoint = client.endpoint
    answer, details = client.read("/version"), client.read("/info")
    here = os.uname()
    kernel = details.get("KernelVersion")
    if not endpoint.local and (details.get("Name"), kernel) == (here.nodename, here.release):
        identity = f"{endpoint.address} {details.get('ID') or ''}"
    return EngineFacts(
        address=endpoint.address,
        local=endpoint.local,
        shares_folders=endpoint.local,
        version=answer.get("Version") or version,
        architecture=answer.get("Arch") or "",
        operating_system=answer.get("Os") or "linux",
        storage_driver=details.get("Driver") or "",
        cpus=details.get("NCPU") or 0,
        memory_mib=(details.get("MemTotal") or 0) // 2**20,
        product=client.product,
        rootless=is_rootless(details),
        # A kernel other than ours means a virtual machine.
        desktop=endpoint.local and kernel != here.release,
        identity=identity,
        named=bool(endpoint.name),
        place=client.place,
    )


def is_owned_by_root(endpoint: EngineAddress) -> bool:
    """True if root made the socket. Those of virtual machines and rootless engines belong to a user.

    Other systems than Linux have engines in virtual machines only.
    """
    try:
        return endpoint.local and os.uname().sysname == _LINUX and os.stat(endpoint.path).st_uid == 0
    except OSError:
        return False


def socket_identity(endpoint: EngineAddress) -> str:
    """Tells this socket from others, and from the one that an engine makes when it starts again."""
    try:
        status = os.stat(endpoint.path)
    except OSError:
        return ""
    return f"{endpoint.address} {status.st_dev}:{status.st_ino} {status.st_ctime_ns}"


def is_rootless_podman(endpoint: EngineAddress) -> bool:
    """True if a user of this machine runs the Podman at this socket."""
    try:
        process, user = _listener(endpoint)
        if user == 0 or process == 0:
            return False
        return _program(process) in _OWN
    except OSError:
        return False


def has_our_mounts(endpoint: EngineAddress) -> bool:
    """True if the listener is in this process's mount namespace, or is a user's own engine, in a copy of it.

    False if that cannot be seen: for example from a container into which the socket is mounted. The first mount of a
    namespace has a number that no other namespace has.
    """
    try:
        process, user = _listener(endpoint)
        if process == 0:
            return False
        with open(f"/proc/{process}/mountinfo", "rb") as theirs, open("/proc/self/mountinfo", "rb") as ours:
            # Another program of a user's passes the socket of a virtual machine on: its kernel may be the same as ours.
            return _program(process) in _OWN_ENGINES if user else theirs.readline() == ours.readline()
    except OSError:
        return False


def _program(process: int) -> str:
    with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().rstrip("\n")


def _listener(endpoint: EngineAddress) -> tuple[int, int]:
    """The process that listens and its user; 0 for a process that this one cannot see. `OSError` if not known."""
    if not endpoint.local or not hasattr(socket, "SO_PEERCRED"):
        raise OSError
    with endpoint.connect() as connection:
        process, user, _ = _WHO.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _WHO.size))
    return process, user


def is_rootless(info: Mapping[str, Any]) -> bool:
    """In Docker it is a security option; Podman has its own member."""
    return bool(info.get("Rootless")) or "name=rootless" in (info.get("SecurityOptions") or ())


def cannot_limit(info: Mapping[str, Any]) -> tuple[str, ...]:
    """The limits that do not work. With cgroup v1 they need root, even if rootless Podman reports otherwise."""
    without = is_rootless(info) and info.get("CgroupVersion") == "1"
    return tuple(
        name
        for name, key in (("memory", "MemoryLimit"), ("CPUs", "CpuCfsQuota"), ("processes", "PidsLimit"))
        if without or not info.get(key)
    )


def cdi_gpus(info: Mapping[str, Any], *, local: bool) -> tuple[str, ...] | None:
    """The GPUs in an engine's answer to `/info`, by number if possible, else by name; None without CDI.

    CDI is the Container Device Interface. Docker 28.2 and newer list their devices. Docker 25 to 28.1 only report the
    folders of CDI specifications, or none if CDI is off; then the result is empty, and `nvidia-smi` tells which GPUs
    there are.
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


def plain_runtime(
    info: Mapping[str, Any], product: Product, *, local: bool, hooks: Sequence[str] = _HOOKS
) -> str | None:
    """As `Engine.plain_runtime`, from the answer to `/info`.

    NVIDIA's runtime, and its hook for Podman, go by the variable NVIDIA_VISIBLE_DEVICES, which the images of NVIDIA set
    to `all`. Where it is the engine's usual runtime, such an image gets all GPUs in every container.
    """
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
