"""The engine's statistics of a running container, with cgroup v1 or v2."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from smlocal.quick_dataclass import dataclass

_NANO = 1_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The statistics at one moment. None: not known."""

    at: float
    """Seconds since the epoch, by the engine's clock."""
    cpu_seconds: float
    """On all processors, since the start."""
    cpus: int
    """The number of processors that it may use."""
    memory: int
    """Bytes, including file cache."""
    cache: int
    """The part that is inactive file cache, which `docker stats` subtracts."""
    memory_highest: int | None
    """The highest since the start, including file cache; only with cgroup v1."""
    disk_read: int | None
    disk_written: int | None
    network_received: int | None
    network_sent: int | None


def read_statistics(document: Mapping[str, Any]) -> Statistics | None:
    """None if the container is not running: then there are no numbers, or zeros."""
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
