from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sagemaker.contract.instance_types import NEAR, Advice, advise, instance_type, instance_types
from smlocal.terms.usage import (
    MIB,
    ContainerUsage,
    HostUsage,
    MemoryVerdict,
    Point,
    host_usage,
    readable_memory,
)

KINDS = ["ml.m5.large", "ml.g4dn.xlarge", "ml.p4d.24xlarge", "ml.trn1.2xlarge"]


def point(at: float, **numbers: Any) -> Point:
    zeros = {"cpu_seconds": 0.0, "cpu_cores": 0.0, "memory": 0, "memory_with_cache": 0}
    unknown = dict.fromkeys(("disk_read", "disk_written", "network_received", "network_sent"))
    return Point(**{"at": at, "gpu_percent": None, "gpu_memory": None, **zeros, **unknown, **numbers})


def host(memory: float = 1, cpu: float = 1.0, *, name: str = "algo-1", **more: Any) -> HostUsage:
    """A host that held so many MiB."""
    used = host_usage(
        name, [ContainerUsage(began=0, points=(point(1, memory=int(memory * MIB), cpu_cores=cpu, **more),))]
    )
    assert used is not None
    return used


def ask(kind: str, *hosts: HostUsage, machine_cpus: int = 64) -> Advice:
    return advise(instance_type(kind), hosts, instance_types(), machine_cpus=machine_cpus)


def test_containers_of_one_host_are_added_up() -> None:
    first = ContainerUsage(
        began=100,
        points=(
            point(101, cpu_seconds=0.5, cpu_cores=0.5, memory=70, memory_with_cache=80, disk_read=5, gpu_percent=10),
            point(104, cpu_seconds=4, cpu_cores=1.5, memory=60, memory_with_cache=90, disk_read=7, gpu_percent=50),
        ),
    )
    never_seen = ContainerUsage(began=110, points=())
    second = ContainerUsage(began=120, points=(point(126, cpu_seconds=1, cpu_cores=1.2, memory=10, disk_read=3),))
    used = host_usage("algo-1", [first, never_seen, second], oom_killed=True)
    assert used == HostUsage(
        name="algo-1",
        seconds=10,
        points=3,
        memory_peak=70,
        memory_with_cache_peak=90,
        cpu_peak=1.5,
        cpu_mean=0.5,
        disk_read=10,
        disk_written=None,
        network_received=None,
        network_sent=None,
        gpu_percent_peak=50,
        gpu_percent_mean=30,
        gpu_memory_peak=None,
        oom_killed=True,
    )


def test_nothing_seen_is_nothing_measured() -> None:
    assert host_usage("algo-1", [ContainerUsage(began=1, points=())]) is None


@pytest.mark.parametrize(
    ("mib", "verdict", "words"),
    [
        (100, MemoryVerdict.FITS, "The peak of 100 MiB and 1.0 cores would fit in ml.t3.medium (4 GiB, 2 vCPU), "),
        (7500, MemoryVerdict.NEAR, "algo-1 held 7.3 GiB at its peak, 92 % of the 8 GiB of ml.m5.large"),
        (8192, MemoryVerdict.EXCEEDED, "algo-1 held 8 GiB at its peak; ml.m5.large has 8 GiB, and it would run out"),
        (20_000, MemoryVerdict.EXCEEDED, "algo-1 held 19.5 GiB at its peak; ml.m5.large has 8 GiB"),
    ],
)
def test_what_the_peak_says_of_the_type_asked_for(mib: int, verdict: MemoryVerdict, words: str) -> None:
    advice = ask("ml.m5.large", host(mib))
    assert advice.verdict is verdict
    assert advice.sentences[0].startswith(words)
    assert (instance_type("ml.m5.large") in advice.fits) == (verdict is MemoryVerdict.FITS)


def test_after_an_oom_kill_nothing_is_said_to_fit() -> None:
    used = host_usage("algo-2", [ContainerUsage(began=0, points=(point(1, memory=300 * MIB),))], oom_killed=True)
    assert used is not None
    advice = ask("ml.m5.large", host(10), used)
    assert (advice.verdict, advice.fits) == (MemoryVerdict.KILLED, ())
    assert advice.sentences == (
        (
            "algo-2: the kernel killed a process because memory ran out. The highest use measured before is 300 MiB; "
            "how much it needs is not known."
        ),
    )


def test_after_an_oom_kill_at_a_limit_of_the_job_the_limit_is_to_blame() -> None:
    points = (point(1, memory=4 * MIB),)
    containers = [ContainerUsage(began=0, points=points)]
    used = host_usage("algo-1", containers, oom_killed=True, memory_limit=200 * MIB)
    assert used is not None
    assert ask("ml.m5.large", used).sentences == (
        (
            "algo-1: the kernel killed a process because it needed more than the 200 MiB of Local.Memory. Raise "
            "Local.Memory. The highest use measured before is 4.0 MiB."
        ),
    )


def test_processors_count_too() -> None:
    advice = ask("ml.m5.large", host(100, cpu=3.6))
    assert next((t.name, t.vcpus) for t in advice.fits) == ("ml.c4.xlarge", 4)
    assert all(t.vcpus >= 4 for t in advice.fits)


def test_two_busy_cores_are_two_whatever_the_clocks_say() -> None:
    assert host(cpu=2.04).cores_needed == 2
    assert host(cpu=0.0).cores_needed == 1


def test_of_each_size_the_family_asked_for_comes_first() -> None:
    eight = [t.name for t in ask("ml.m6i.4xlarge", host(5000)).fits if (t.memory_mib, t.vcpus) == (8192, 2)]
    assert eight == ["ml.m6i.large"]


def test_a_machine_with_fewer_processors_cannot_tell() -> None:
    said = ask("ml.m5.4xlarge", host(100, cpu=1.97), machine_cpus=2).sentences
    assert said[-1].startswith("All 2 processors of this machine were in use at the peak")
    assert ask("ml.m5.large", host(100, cpu=1.97), machine_cpus=2).sentences == said[:-1]


def test_gpu_memory_counts_where_it_was_measured() -> None:
    advice = ask("ml.g4dn.xlarge", host(100, gpu_memory=20_000 * MIB, gpu_percent=99))
    assert advice.sentences[0] == (
        "A GPU held 19.5 GiB at its peak; one of ml.g4dn.xlarge (NVIDIA T4) has 16 GiB, "
        "and it would run out of memory there."
    )
    assert advice.fits
    assert all(t.gpus == 1 and t.gpu_memory_mib > 20_000 for t in advice.fits)


def test_a_peak_that_nothing_holds() -> None:
    advice = ask("ml.m5.large", host(10**9))
    assert advice.fits == ()
    assert advice.sentences[-1].endswith("would not fit in any instance type of this kind.")


@given(kind=st.sampled_from(KINDS), mib=st.floats(0.1, 3e6), cpu=st.floats(0, 200), gpu=st.none() | st.integers(0, 90))
def test_what_is_said_to_fit_does_and_is_of_the_same_kind(kind: str, mib: float, cpu: float, gpu: int | None) -> None:
    asked = instance_type(kind)
    advice = ask(kind, host(mib, cpu, gpu_memory=gpu and gpu * 1024 * MIB))
    for found in advice.fits:
        assert found.memory_mib * NEAR > int(mib * MIB) / MIB
        assert found.vcpus >= cpu - 0.1
        assert (found.gpus, found.neuron_devices, found.architecture) == (
            asked.gpus,
            asked.neuron_devices,
            asked.architecture,
        )
        assert not gpu or found.gpu_memory_mib * NEAR > gpu * 1024
    sizes = [(found.memory_mib, found.vcpus) for found in advice.fits]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("count", "words"),
    [(1, "0.0 MiB"), (5 * MIB, "5.0 MiB"), (212 * MIB, "212 MiB"), (8192 * MIB, "8 GiB"), (1000 * MIB, "1 GiB")],
)
def test_bytes_as_memory_is_spoken_of(count: int, words: str) -> None:
    assert readable_memory(count) == words
