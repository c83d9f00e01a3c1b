"""The Docker API's JSON documents about containers and images, a container's statistics and its end."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from smlocal.engine import podman
from smlocal.engine.client import Client
from smlocal.engine.facts import ImageFacts, Product
from smlocal.engine.http import Call
from smlocal.engine.interface import ContainerOrigin, ContainerSpec, ContainerState, Mount, Statistics
from smlocal.errors import EngineError, EngineLostError
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.limits import Limits

_LOGS: Final[dict[Product, dict[str, Any]]] = {
    # The only driver that keeps all lines unchanged. They are needed for jobs that are adopted after a crash.
    "docker": {"Type": "local", "Config": {"max-size": "100g", "max-file": "1", "compress": "false"}},
    "podman": {"Type": "k8s-file"},
}
_SHORT_LOGS: Final[dict[Product, dict[str, Any]]] = {
    "docker": {"Type": "local", "Config": {"max-size": "5m", "max-file": "1", "compress": "false"}},
    "podman": {"Type": "k8s-file", "Config": {"max-size": "5m"}},
}
_BEHIND_OTHERS: Final[dict[str, Any]] = {
    "CapDrop": ["ALL"],
    "CpuShares": 64,  # others have 1024; with fewer, a rule would not even start beside a busy job
    "OomScoreAdj": 500,
    "SecurityOpt": ["no-new-privileges"],
}
_PODMANS: Final = {"stopped": "exited", "stopping": "running"}
"""Podman's states for a moment before and after the end of a container."""
_NANO = 1_000_000_000


def container_document(spec: ContainerSpec, product: Product = "docker") -> dict[str, Any]:
    """The body of a request that creates a container."""
    host: dict[str, Any] = {
        "AutoRemove": False,
        "Dns": list(spec.name_servers),
        "ExtraHosts": [f"{name}:{address}" for name, address in spec.extra_hosts.items()],
        "Init": False,  # explicitly: an engine may be configured to add one
        "LogConfig": _LOGS[product],
        "Mounts": [_mount(mount) for mount in spec.mounts],
        "NetworkMode": spec.network or "default",
        "PortBindings": {
            f"{port}/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(here)}] for port, here in _published(spec)
        },
        "RestartPolicy": {"Name": "no"},
    }
    host |= _limits(spec.limits)
    if spec.behind_others:
        host |= _BEHIND_OTHERS | {"LogConfig": _SHORT_LOGS[product]}
    if spec.runtime:
        host["Runtime"] = spec.runtime
    if spec.devices is not None:
        host["DeviceRequests"] = [_device_request(spec.devices)]
    if spec.device_files:
        host["Devices"] = [
            {"PathOnHost": path, "PathInContainer": path, "CgroupPermissions": "rwm"} for path in spec.device_files
        ]
    document: dict[str, Any] = {
        "AttachStderr": True,
        "AttachStdin": spec.standard_input,
        "AttachStdout": True,
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "ExposedPorts": {f"{port}/tcp": {} for port, _ in _published(spec)},
        "HostConfig": host,
        "Hostname": spec.hostname,
        "Image": spec.image,
        "Labels": dict(spec.labels),
        "OpenStdin": spec.standard_input,
        "StdinOnce": spec.standard_input,
        "Tty": spec.terminal,
    }
    if spec.entrypoint is not None:
        document["Entrypoint"] = list(spec.entrypoint)
    if spec.command is not None:
        document["Cmd"] = list(spec.command)
    if spec.user:
        document["User"] = spec.user
    if spec.network is not None and (spec.aliases or spec.address):
        # Without these, NetworkMode is enough. Engines refuse an endpoint of `none`, and aliases of a shared network.
        endpoint: dict[str, Any] = {"Aliases": list(spec.aliases)}
        if spec.address:
            endpoint["IPAMConfig"] = {"IPv4Address": spec.address}
        document["NetworkingConfig"] = {"EndpointsConfig": {spec.network: endpoint}}
    return document


def _published(spec: ContainerSpec) -> list[tuple[int, int]]:
    """Ports of the container, and those of this machine in front of them."""
    return [*((port, port) for port in spec.ports), *spec.published.items()]


def _limits(limits: Limits) -> dict[str, Any]:
    """Only the limits that are set."""
    document: dict[str, Any] = {}
    if limits.memory is not None:
        document |= {"Memory": limits.memory, "MemorySwap": limits.memory}  # together: no swap
    if limits.cpus is not None:
        document["NanoCpus"] = round(limits.cpus * 1e9)
    if limits.processes is not None:
        document["PidsLimit"] = limits.processes
    if limits.shared_memory is not None:
        document["ShmSize"] = limits.shared_memory
    if limits.ulimits:
        pairs = limits.ulimits.items()
        document["Ulimits"] = [{"Name": name, "Soft": soft, "Hard": hard} for name, (soft, hard) in pairs]
    return document


def _device_request(devices: GpuDevices) -> dict[str, Any]:
    """The same as `docker run --gpus`, or `--device nvidia.com/gpu=0` with CDI."""
    if devices.cdi:
        return {"Driver": "cdi", "DeviceIDs": list(devices.names)}
    which = {"Count": -1} if devices.every else {"DeviceIDs": list(devices.ids)}
    return {"Driver": "", **which, "Capabilities": [["gpu"]]}


def _mount(mount: Mount) -> dict[str, Any]:
    document: dict[str, Any] = {"Source": mount.source, "Target": mount.target, "ReadOnly": mount.read_only}
    if mount.volume:
        # NoCopy: do not fill a new volume with the image's files at that path.
        return {**document, "Type": "volume", "VolumeOptions": {"NoCopy": True}}
    return {**document, "Type": "bind"}


def image_facts(document: dict[str, Any]) -> ImageFacts:
    """From the inspection of an image."""
    config = document.get("Config") or {}
    return ImageFacts(
        id=document["Id"],
        architecture=document.get("Architecture") or "",
        operating_system=document.get("Os") or "",
        size=document.get("Size") or 0,
        entrypoint=_words(config.get("Entrypoint")),
        command=_words(config.get("Cmd")),
        user=config.get("User") or "",
        working_directory=config.get("WorkingDir") or "",
        environment={name: value for name, _, value in (line.partition("=") for line in config.get("Env") or ())},
        stop_signal=config.get("StopSignal") or None,
        volumes=tuple(sorted(config.get("Volumes") or ())),
        labels=dict(config.get("Labels") or {}),
    )


def _words(value: list[str] | None) -> tuple[str, ...] | None:
    return tuple(value) if value else None


def container_state(document: dict[str, Any]) -> ContainerState:
    """From the inspection of a container."""
    state = document["State"]
    return ContainerState(
        status=_PODMANS.get(status := state.get("Status") or "", status),
        exit_code=state.get("ExitCode") or 0,
        oom_killed=bool(state.get("OOMKilled")),
        error=state.get("Error") or "",
        started_at=state.get("StartedAt") or "",
        finished_at=state.get("FinishedAt") or "",
    )


def container_origin(document: Mapping[str, Any]) -> ContainerOrigin:
    """From the inspection of a container."""
    return ContainerOrigin(image=document["Image"], mounts=tuple(map(_mounted, document.get("Mounts") or ())))


def _mounted(document: Mapping[str, Any]) -> Mount:
    volume = document["Type"] == "volume"
    return Mount(
        source=document["Name" if volume else "Source"],
        target=document["Destination"],
        volume=volume,
        read_only=not document["RW"],
    )


def read_statistics(document: Mapping[str, Any]) -> Statistics | None:
    """With cgroup v1 or v2. None if the container is not running: then there are no numbers, or zeros."""
    from datetime import datetime  # short jobs do without

    memory, cpu = document.get("memory_stats") or {}, document.get("cpu_stats") or {}
    spent = (cpu.get("cpu_usage") or {}).get("total_usage") or 0
    usage = memory.get("usage") or 0
    if not usage or not spent:
        return None
    details = memory.get("stats") or {}
    # v1 has both, and the plain one does not include the cgroups below.
    cache = details.get("total_inactive_file", details.get("inactive_file")) or 0
    read, written = _disk(document.get("blkio_stats") or {})
    received, sent = _network(document.get("networks"))
    return Statistics(
        at=datetime.fromisoformat(document["read"]).timestamp(),
        cpu_seconds=spent / _NANO,
        cpus=cpu.get("online_cpus") or 0,
        memory=usage,
        cache=cache if cache < usage else 0,
        memory_highest=memory.get("max_usage") or None,
        disk_read=read,
        disk_written=written,
        network_received=received,
        network_sent=sent,
    )


def _disk(blkio: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Bytes from and to block devices; an empty list means not known, since not every kernel counts them."""
    entries: Sequence[Mapping[str, Any]] = blkio.get("io_service_bytes_recursive") or ()
    if not entries:
        return None, None
    sums = {"read": 0, "write": 0}
    for entry in entries:
        operation = entry["op"].lower()  # v1 writes `Read`, v2 `read`
        if operation in sums:
            sums[operation] += entry["value"]
    return sums["read"], sums["write"]


def _network(networks: Mapping[str, Mapping[str, int]] | None) -> tuple[int | None, int | None]:
    """The sums over all interfaces; None without a network."""
    if not networks:
        return None, None
    return sum(each["rx_bytes"] for each in networks.values()), sum(each["tx_bytes"] for each in networks.values())


# The end is noticed even if the engine's answer does not arrive.

_LOOK_SECONDS = 0.05
"""Pause between two inspections of a Podman container that is about to start."""
_ENDED: Final = {"exited", "dead"}


class _EndedError(Exception):
    """A container has ended, and the engine's answer has not arrived."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def wait_for_end(client: Client, container: str, state: Callable[[str], ContainerState]) -> int:
    """Return the exit code; may be called before or after the start. `state` inspects a container."""
    try:
        return _wait(client, container, state)
    except _EndedError as ended:
        return ended.exit_code


def _wait(client: Client, container: str, inspect: Callable[[str], ContainerState]) -> int:
    """To the engine, a container that was not started yet has ended, so `next-exit` is used.

    The container is inspected again after the request, because it may have ended just before. If the start fails, the
    wait ends when the container is removed.
    """

    def still() -> None:
        _still_runs(client, container)

    state = inspect(container)
    if client.product == "podman":
        while state.status == "created":
            time.sleep(_LOOK_SECONDS)
            state = inspect(container)
        return podman.wait(client, container, still)
    fresh = state.status == "created"
    parameters = {"condition": "next-exit" if fresh else "not-running"}
    path = f"/containers/{container}/wait"
    with client.ask("POST", path, parameters=parameters, call=Call.WAIT, still=still) as answer:
        if fresh and (state := inspect(container)).status in _ENDED:
            return state.exit_code
        document = answer.json() or {}
    trouble = (document.get("Error") or {}).get("Message")
    if trouble:
        raise EngineError(trouble)
    return int(document["StatusCode"])


def _still_runs(client: Client, container: str) -> None:
    """Raise if the engine is lost, or if the container has ended and the answer was lost with its connection."""
    try:
        state = container_state(client.read(f"/containers/{container}/json", call=Call.GLANCE))
    except EngineLostError:
        # The engine may be slow with one container, for example while a large file is copied out of it.
        client.check()
    else:
        if state.status in _ENDED:
            raise _EndedError(state.exit_code)


_KILLED = 137
_DELAY = 1.0
"""Seconds: how late the event may be; at most half a second was measured in hundreds of cases on a busy machine."""


def ran_out_of_memory(client: Client, container: str, state: ContainerState, *, killed_by_us: bool) -> bool:
    """Ask for Docker's events until the end of the container; after a SIGKILL that is not ours, a little longer.

    Docker learns of the end and of its cause separately. If it learns of the end first, as on a busy machine, the
    container's state never says that memory ran out, but the events do.
    """
    late = _DELAY if state.exit_code == _KILLED and not killed_by_us else 0.0
    from datetime import datetime  # not for jobs that succeed

    until = datetime.fromisoformat(state.finished_at).timestamp() + late
    parameters = {
        "since": "1",  # Docker may report the start of a short container after its end
        "until": f"{until:.6f}",  # by the engine's own clock
        "filters": json.dumps({"container": [container], "event": ["oom"]}),
    }
    try:
        with client.ask("GET", "/events", parameters=parameters) as answer:
            return any(answer.lines())
    except EngineError:  # some proxies allow only certain calls
        return False


_LOG = "/dev/kmsg"
_LONGEST = 1 << 14
"""The maximum size of a record; a read with a smaller buffer fails."""
_MOST = 1 << 20
"""The maximum number of records that are read; kernels keep some thousands."""
_GROUPS = (b"oom_memcg=", b"task_memcg=")
"""The container whose memory ran out, and that of the killed process. Other fields may name other containers."""


def killed_for_memory(container: str) -> bool:
    """True if the kernel's log, which not every user may read, has a kill in this container because memory ran out.

    The kernel logs it before the container ends, but not more than ten such kills in five seconds. Engines learn of it
    separately from the end, and sometimes not at all.
    """
    try:
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # on most machines only root may read it
        return False
    try:
        for _ in range(_MOST):
            try:
                record = os.read(log, _LONGEST)
            except BrokenPipeError:  # overwritten in the meantime: the next read continues with the present content
                continue
            if is_kill_in(record, container):
                return True
    except OSError:  # no more records
        pass
    finally:
        os.close(log)
    return False


def is_kill_in(record: bytes, container: str) -> bool:
    """True if the record is about a kill in this container."""
    _, _, kill = record.partition(b";oom-kill:")
    return any(field.startswith(_GROUPS) and container.encode() in field for field in kill.split(b","))
