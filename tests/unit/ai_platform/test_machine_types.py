import pytest

from smlocal.ai_platform.machine_types import (
    ATTACHABLE,
    SCALE_TIERS,
    container_memory_mib,
    has_tpus,
    machine_type,
    machine_types,
    offered,
)
from smlocal.ai_platform.model.members import ReplicaJobKind, members


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gib", "gpus"),
    [
        ("n1-standard-4", 4, 15, 0),
        ("n1-highcpu-96", 96, 86.4, 0),
        ("c2-standard-60", 60, 240, 0),
        ("m1-megamem-96", 96, 1433.6, 0),
        ("a2-megagpu-16g", 96, 1360, 16),
        ("a3-ultragpu-8g", 224, 2952, 8),
        ("complex_model_l_gpu", 32, 120, 8),
    ],
)
def test_sizes_are_those_of_compute_engine(name: str, vcpus: int, memory_gib: float, gpus: int) -> None:
    machine = machine_types()[name]
    assert (machine.vcpus, machine.gpus) == (vcpus, gpus)
    assert machine.memory_mib == round(memory_gib * 1024)


def test_each_service_has_its_own_types() -> None:
    assert machine_type("standard", ReplicaJobKind.TRAINING_JOB)
    assert not machine_type("standard", ReplicaJobKind.CUSTOM_JOB)
    assert machine_type("g2-standard-8", ReplicaJobKind.CUSTOM_JOB)
    assert not machine_type("g2-standard-8", ReplicaJobKind.TRAINING_JOB)
    assert "n1-highcpu-8" not in {name for kind in ReplicaJobKind for name in offered(kind)}
    assert has_tpus("cloud_tpu", ReplicaJobKind.TRAINING_JOB)
    assert has_tpus("ct5lp-hightpu-4t", ReplicaJobKind.CUSTOM_JOB)
    assert not any(has_tpus(name, kind) for name in machine_types() for kind in ReplicaJobKind)


def test_accelerators_are_those_of_the_services() -> None:
    known = set(members(ReplicaJobKind.CUSTOM_JOB, "MachineSpec")["acceleratorType"].values)
    assert {each.gpu for each in machine_types().values() if each.gpu} <= known
    assert known >= ATTACHABLE
    assert all(bool(each.gpu) == bool(each.gpus) for each in machine_types().values())


def test_scale_tiers_have_machines() -> None:
    tiers = set(members(ReplicaJobKind.TRAINING_JOB, "TrainingInput")["scaleTier"].values)
    assert tiers == {*SCALE_TIERS, "CUSTOM", "BASIC_TPU"}
    for tier in SCALE_TIERS.values():
        assert tier.master in machine_types()
        assert bool(tier.parameter_servers) == (tier.parameter_server in machine_types())


def test_agents_take_40_percent_of_the_smallest_machine_and_less_of_larger_ones() -> None:
    def share(name: str) -> float:
        machine = machine_types()[name]
        return 1 - container_memory_mib(machine) / machine.memory_mib

    assert container_memory_mib(machine_types()["n1-standard-4"]) == 9 * 1024
    shares = [share(f"n1-standard-{size}") for size in (4, 8, 16, 32, 64, 96)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.05
    assert all(share(name) < 0.401 for name in machine_types())
