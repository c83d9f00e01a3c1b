"""The limits of a container: of its type, of the settings, and never more than there is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.limits.plan import LimitFacts, own_memory_limit
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall, remember
from smlocal.sagemaker.contract.documents.hosts import host_of_type
from smlocal.sagemaker.script import shell_script
from smlocal.terms.limits import Limits
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]
GIB = 1 << 30
ENFORCE = {"EnforceInstanceLimits": True}


def machine(**more: Any) -> MachineFacts:
    return MachineFacts(**{"cpus": 16, "memory_mib": 64_000, **more})


def resources(kind: str = "ml.m5.large", **more: Any) -> dict[str, Any]:
    return {"ResourceConfig": {"InstanceType": kind, "InstanceCount": 1, **more}}


def limits(plan: JobPlan) -> Limits:
    return plan.hosts[0].limits


def test_nothing_is_limited_unless_asked(plan: Planner) -> None:
    assert limits(plan(resources(VolumeSizeInGB=1))) == Limits()


def test_the_size_of_the_type(plan: Planner) -> None:
    assert limits(plan(resources(), ENFORCE)) == Limits(memory=8 * GIB, cpus=2)
    assert limits(plan(resources("local"), ENFORCE)) == Limits()


def test_a_smaller_machine(plan: Planner) -> None:
    made = plan(resources("ml.m5.24xlarge"), ENFORCE, machine=machine())
    assert limits(made) == Limits(memory=64_000 << 20, cpus=16)
    assert "instance-clamped" in {note.id for note in made.notes}


def test_settings_of_ones_own_make_it_smaller_never_larger(plan: Planner) -> None:
    given = {"Memory": "1g", "Cpus": 0.5, "ShmSize": "128m", "Ulimits": {"nofile": "10:20"}}
    wanted = Limits(memory=GIB, cpus=0.5, shared_memory=128 << 20, ulimits={"nofile": (10, 20)})
    assert limits(plan(resources(), given)) == wanted
    assert limits(plan(resources(), {**given, **ENFORCE})) == wanted
    assert limits(plan(resources(), {"Memory": "30g", "Cpus": 8, **ENFORCE})) == Limits(memory=8 * GIB, cpus=2)


def test_the_volume_holds_the_data_and_what_is_written(plan: Planner, listing: Listing) -> None:
    data = replace(listing, total_bytes=GIB)
    made = plan(resources(VolumeSizeInGB=3), ENFORCE, listings={"train": data})
    assert limits(made).disk == 2 * GIB
    smaller = plan(
        resources(VolumeSizeInGB=3),
        ENFORCE,
        machine=machine(limits=LimitFacts(free_disk=GIB)),
        listings={"train": data},
    )
    assert limits(smaller).disk == GIB
    assert "volume-size" in {note.id for note in smaller.notes}


def test_data_that_does_not_fit_is_known_wherever_a_disk_can_be_made_or_not(plan: Planner, listing: Listing) -> None:
    data = replace(listing, total_bytes=GIB)
    for reason in (None, "only root can"):
        made = plan(
            resources(VolumeSizeInGB=1),
            ENFORCE,
            listings={"train": data},
            machine=machine(limits=LimitFacts(no_volume=reason)),
        )
        assert limits(made).disk == 0
        assert "volume-full" in {note.id for note in made.notes}


def test_a_disk_that_cannot_be_made(plan: Planner) -> None:
    facts = LimitFacts(no_volume="only root can create a disk of a fixed size")
    made = plan(resources(VolumeSizeInGB=3), ENFORCE, machine=machine(limits=facts))
    assert limits(made).disk is None
    (note,) = (note for note in made.notes if note.id == "volume-size")
    assert note.text == "VolumeSizeInGB is not enforced: only root can create a disk of a fixed size"


def test_a_plan_with_limits_is_remembered(plan: Planner) -> None:
    made = plan(resources(VolumeSizeInGB=3), {**ENFORCE, "Ulimits": {"nofile": 5}, "Gpus": [1, 0]})
    assert recall(remember(made)).hosts[0].limits == made.hosts[0].limits
    assert recall(remember(made)).hosts[0].accelerators.gpus == made.hosts[0].accelerators.gpus


@pytest.mark.parametrize(
    ("local", "words"),
    [
        (ENFORCE, f"--memory {8 * GIB} --memory-swap {8 * GIB} \\\n  --cpus 2"),
        ({"ShmSize": "1m", "Ulimits": {"nofile": 5}}, "--shm-size 1048576 \\\n  --ulimit nofile=5:5"),
    ],
)
def test_the_script_has_them(plan: Planner, local: dict[str, Any], words: str) -> None:
    assert words in shell_script(plan(resources(), local))


@pytest.mark.parametrize(
    ("kind", "memory", "own"),
    [
        ("ml.m5.large", None, 0),
        ("ml.m5.large", 200 << 20, 200 << 20),
        ("ml.m5.large", 8 << 30, 0),
        ("ml.m5.4xlarge", 64_000 << 20, 0),
        ("local", 200 << 20, 200 << 20),
        ("local", None, 0),
    ],
)
def test_only_a_limit_of_the_job_is_its_own(kind: str, memory: int | None, own: int) -> None:
    host = host_of_type("algo-1", 1, kind)
    assert own_memory_limit(host, replace(Limits(), memory=memory), memory_mib=64_000) == own
