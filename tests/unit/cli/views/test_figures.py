from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.views.figures import describe_lines, evenly, summary_lines
from smlocal.jobs.usage.series import SeriesFile
from smlocal.jobs.usage.usage_watch import series_path
from smlocal.sagemaker.usage_block import MeasuredHost, usage_block
from smlocal.terms.usage import MIB, Point

GPU = {"gpu_percent": 97, "gpu_memory": 15_000 * MIB}


def point(at: float, mib: int, cores: float = 1.0, **more: Any) -> Point:
    return Point(
        **{
            "at": at,
            "cpu_seconds": at - 100,
            "cpu_cores": cores,
            "memory": mib * MIB,
            "memory_with_cache": mib * MIB,
            "disk_read": None,
            "disk_written": 2048,
            "network_received": 700,
            "network_sent": 0,
            "gpu_percent": None,
            "gpu_memory": None,
            **more,
        }
    )


def usage(job: Path, hosts: dict[str, list[Point]], kind: str = "ml.m5.large", note: str = "") -> dict[str, Any]:
    """The block of a job whose hosts were seen like that."""
    for name, points in hosts.items():
        file = SeriesFile(series_path(str(job), name))
        file.begin("id", 100)
        for each in points:
            file.add(each)
        if note:
            file.note(note)
    block = usage_block(str(job), [MeasuredHost(name=name, instance_type=kind) for name in hosts], machine_cpus=64)
    assert block is not None
    return block


def test_one_host(tmp_path: Path) -> None:
    block = usage(tmp_path, {"algo-1": [point(101, 200), point(102, 212)]})
    assert list(summary_lines(block)) == [("memory", "peak 212 MiB of 8 GiB     cpu peak 1.0 of 2")]


def test_a_limit_of_the_job_is_named(tmp_path: Path) -> None:
    usage(tmp_path, {"algo-1": [point(101, 150)]})
    host = MeasuredHost(name="algo-1", instance_type="ml.m5.large", memory_limit=200 * MIB)
    block = usage_block(str(tmp_path), [host], machine_cpus=64)
    assert block is not None
    assert block["Hosts"][0]["MemoryLimitMiB"] == 200
    assert list(summary_lines(block)) == [("memory", "peak 150 MiB of 200 MiB (Local.Memory)     cpu peak 1.0 of 2")]


def test_curves_where_there_is_enough_to_see(tmp_path: Path) -> None:
    points = [point(101 + second, 53 * (second + 1), cores=2.0 - second / 2) for second in range(4)]
    block = usage(tmp_path, {"algo-1": points})
    assert list(summary_lines(block)) == [("memory", "peak 212 MiB of 8 GiB  ▃▅▇█     cpu peak 2.0 of 2  █▇▅▃")]


def test_several_hosts_the_highest_first_and_some_only_counted(tmp_path: Path) -> None:
    hosts = {f"algo-{number}": [point(101, 100 * number)] for number in range(1, 8)}
    rows = list(summary_lines(usage(tmp_path, hosts)))
    assert [name for name, _ in rows] == ["memory", "", "", "", ""]
    assert rows[0][1] == "algo-7 peak 700 MiB of 8 GiB     cpu peak 1.0 of 2"
    assert rows[-1][1] == "and 3 more with lower peaks"


def test_gpus(tmp_path: Path) -> None:
    block = usage(tmp_path, {"algo-1": [point(101, 200, **GPU)]}, kind="ml.g4dn.xlarge")
    (row, advice) = summary_lines(block)
    assert row[1] == "peak 200 MiB of 16 GiB     cpu peak 1.0 of 4     gpu peak 97 %, 14.6 GiB"
    assert advice == ("advice", "A GPU held 14.6 GiB at its peak; one of ml.g4dn.xlarge (NVIDIA T4) has 16 GiB.")


def test_what_asks_for_attention_and_nothing_else(tmp_path: Path) -> None:
    block = usage(tmp_path, {"algo-1": [point(101, 9000)]}, note="the engine said no")
    assert list(summary_lines(block))[1:] == [
        (
            "advice",
            "algo-1 held 8.8 GiB at its peak; ml.m5.large has 8 GiB, and it would run out of memory there.",
        ),
        ("note", "algo-1: the engine said no"),
    ]


def test_describe_shows_all(tmp_path: Path) -> None:
    seen = {"algo-1": [point(101, 200), point(110, 212)]}
    usage(tmp_path, seen)
    folders = {"/opt/ml/model": 5 << 20, "/opt/ml/output": 0, "/opt/ml/input/data/train": None}
    SeriesFile(series_path(str(tmp_path), "algo-1")).hold(folders)
    rows = list(describe_lines(usage(tmp_path, {"algo-1": []})))
    assert rows == [
        ("algo-1", "memory peak 212 MiB of 8 GiB     cpu peak 1.0 of 2"),
        ("", "cpu mean 1.00   written 2.0 KiB   network received 700 B   sent 0 B"),
        ("", "disk held /opt/ml/model 5.0 MiB"),
        ("", "disk use not counted: /opt/ml/input/data/train"),
        (
            "Advice",
            (
                "The peak of 212 MiB and 1.0 cores would fit in ml.t3.medium (4 GiB, 2 vCPU), "
                "ml.c4.xlarge (7.5 GiB, 4 vCPU), ml.m5.large (8 GiB, 2 vCPU)."
            ),
        ),
    ]


def test_a_series_that_is_gone_costs_the_curve_only(tmp_path: Path) -> None:
    block = usage(tmp_path, {"algo-1": [point(101 + second, 200) for second in range(9)]})
    Path(block["Hosts"][0]["Series"]).unlink()
    assert list(summary_lines(block)) == [("memory", "peak 200 MiB of 8 GiB     cpu peak 1.0 of 2")]


@pytest.mark.parametrize("count", [5, 16, 17, 500])
def test_stretches_of_equal_length_keep_the_peak(count: int) -> None:
    points = [point(100 + 1.05**number, 900 if number == count // 2 else 100) for number in range(count)]
    curve = evenly(points, lambda each: each.memory)
    assert len(curve) <= 16
    assert max(curve) == 900 * MIB


def test_nothing_kept_is_no_block(tmp_path: Path) -> None:
    assert (
        usage_block(str(tmp_path), [MeasuredHost(name="algo-1", instance_type="ml.m5.large")], machine_cpus=2) is None
    )


def test_a_host_that_was_never_seen_has_only_its_note(tmp_path: Path) -> None:
    SeriesFile(series_path(str(tmp_path), "algo-2")).note("no answer")
    measured = [MeasuredHost(name=name, instance_type="ml.m5.large") for name in ("algo-1", "algo-2")]
    block = usage_block(str(tmp_path), measured, machine_cpus=2)
    assert block == {"Hosts": [], "Advice": [], "Notes": ["algo-2: no answer"]}
