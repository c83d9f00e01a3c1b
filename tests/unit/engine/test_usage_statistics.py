"""The engine's statistics, as Docker gives them with cgroup v1 and v2."""

from typing import Any

import pytest

from smlocal.engine.documents import read_statistics
from smlocal.engine.interface import Statistics


def version_1() -> dict[str, Any]:
    """Docker 20.10, shortened."""
    return {
        "read": "2026-11-21T21:50:07.94654443Z",
        "preread": "0001-01-01T00:00:00Z",
        "blkio_stats": {
            "io_service_bytes_recursive": [
                {"major": 8, "minor": 0, "op": "Read", "value": 1000},
                {"major": 8, "minor": 0, "op": "Write", "value": 200},
                {"major": 8, "minor": 0, "op": "Sync", "value": 1200},
                {"major": 8, "minor": 0, "op": "Total", "value": 1200},
                {"major": 8, "minor": 16, "op": "Read", "value": 24},
            ]
        },
        "cpu_stats": {
            "cpu_usage": {"total_usage": 37490504, "percpu_usage": [36836731, 653773]},
            "system_cpu_usage": 7351560000000,
            "online_cpus": 2,
        },
        "memory_stats": {
            "usage": 647168,
            "max_usage": 4104192,
            "stats": {"cache": 315392, "inactive_file": 1, "total_inactive_file": 282624, "total_rss": 53248},
            "limit": 25325268992,
        },
        "networks": {"eth0": {"rx_bytes": 736, "tx_bytes": 5}, "eth1": {"rx_bytes": 4, "tx_bytes": 1}},
    }


def version_2() -> dict[str, Any]:
    return {
        **version_1(),
        "blkio_stats": {
            "io_service_bytes_recursive": [
                {"major": 8, "minor": 0, "op": "read", "value": 1000},
                {"major": 8, "minor": 0, "op": "write", "value": 200},
            ],
            "io_serviced_recursive": None,
        },
        "memory_stats": {"usage": 647168, "stats": {"anon": 53248, "file": 315392, "inactive_file": 282624}},
    }


def test_version_1() -> None:
    assert read_statistics(version_1()) == Statistics(
        at=1795297807.946544,
        cpu_seconds=0.037490504,
        cpus=2,
        memory=647168,
        cache=282624,
        memory_highest=4104192,
        disk_read=1024,
        disk_written=200,
        network_received=740,
        network_sent=6,
    )


def test_version_2_keeps_no_high_water_mark() -> None:
    seen = read_statistics(version_2())
    assert seen is not None
    assert (seen.cache, seen.memory_highest) == (282624, None)
    assert (seen.disk_read, seen.disk_written) == (1000, 200)


@pytest.mark.parametrize("entries", [None, []])
def test_no_block_devices_counted_is_not_nothing_read(entries: list[Any] | None) -> None:
    seen = read_statistics({**version_1(), "blkio_stats": {"io_service_bytes_recursive": entries}})
    assert seen is not None
    assert (seen.disk_read, seen.disk_written) == (None, None)


def test_a_container_without_a_network() -> None:
    document = version_1()
    del document["networks"]
    seen = read_statistics(document)
    assert seen is not None
    assert (seen.network_received, seen.network_sent) == (None, None)


@pytest.mark.parametrize(
    "document",
    [
        {"read": "0001-01-01T00:00:00Z", "memory_stats": {}, "cpu_stats": {"cpu_usage": {"total_usage": 0}}},
        {"id": "1", "name": "/x"},
        {"memory_stats": None, "cpu_stats": None},
    ],
)
def test_a_container_that_has_ended(document: dict[str, Any]) -> None:
    assert read_statistics(document) is None
