"""GPUs shared out among hosts."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts, GpuFacts, gpu_counts, share_out
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.contract.documents.config_files import heterogeneous, homogeneous
from smlocal.sagemaker.training.script import shell_script
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.hosts import EVERY

Planner = Callable[..., JobPlan]
FOUR = ("0", "1", "2", "3")
TWO_V100 = homogeneous(2, "ml.p3.8xlarge")
MIXED = heterogeneous([("data", "ml.c5.xlarge", 1), ("train", "ml.g4dn.12xlarge", 2)])


def settings(**local: Any) -> LocalSettings:
    return LocalSettings(**local)


def ids(*shared: GpuDevices | None) -> list[tuple[str, ...] | None]:
    return [None if each is None else each.ids for each in shared]


def test_each_host_gets_others_than_the_one_before() -> None:
    facts = GpuFacts(ids=tuple(map(str, range(8))))
    assert ids(*share_out(TWO_V100, settings(), facts)) == [FOUR, ("4", "5", "6", "7")]
    assert ids(*share_out(TWO_V100, settings(Gpus=2), facts)) == [("0", "1"), ("2", "3")]


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        ("auto", (0, 4, 4)),
        ("all", (0, 2, 2)),
        ("none", (0, 0, 0)),
        (0, (0, 0, 0)),
        (3, (0, 3, 3)),
        ([0, 2], (0, 1, 1)),
        (["GPU-8f1c"], (0, 1, 1)),
    ],
)
def test_only_hosts_whose_type_has_gpus_take_part(asked: Any, counts: tuple[int, ...]) -> None:
    assert gpu_counts(MIXED, settings(Gpus=asked), FOUR) == counts


def test_gpus_that_are_asked_for_go_to_a_type_without_any_as_well() -> None:
    assert gpu_counts(homogeneous(2, "ml.m5.large"), settings(Gpus=1), FOUR) == (1, 1)
    assert gpu_counts(homogeneous(2, "ml.m5.large"), settings(Gpus="all"), FOUR) == (2, 2)
    assert gpu_counts(homogeneous(2, "ml.m5.large"), settings(), FOUR) == (0, 0)


def test_this_machine_with_and_without_its_gpus() -> None:
    assert gpu_counts(homogeneous(1, "local_gpu"), settings(), FOUR) == (4,)
    assert gpu_counts(homogeneous(1, "local_gpu"), settings(), None) == (EVERY,)
    assert gpu_counts(homogeneous(1, "local_gpu"), settings(AllowCpu=True), FOUR) == (0,)
    assert gpu_counts(homogeneous(1, "local"), settings(), FOUR) == (0,)


def test_too_few_never_become_none() -> None:
    assert gpu_counts(homogeneous(2, "local_gpu"), settings(), ("0",)) == (1, 1)
    assert gpu_counts(homogeneous(2, "local_gpu"), settings(), ()) == (1, 1)


def test_gpus_that_nobody_uses_come_first() -> None:
    facts = GpuFacts(ids=FOUR, busy={"0": "other", "2": "other"})
    assert ids(*share_out(homogeneous(2, "ml.g4dn.xlarge"), settings(), facts)) == [("1",), ("3",)]
    assert ids(*share_out(homogeneous(1, "ml.g4dn.xlarge"), settings(Gpus=3), facts)) == [("0", "1", "3")]
    assert ids(*share_out(homogeneous(1, "ml.g4dn.xlarge"), settings(Gpus=[2]), facts)) == [("2",)]


def test_all_of_the_machine_are_asked_for_as_all() -> None:
    (whole,) = share_out(homogeneous(1, "ml.p3.8xlarge"), settings(), GpuFacts(ids=FOUR))
    assert whole == GpuDevices(ids=FOUR, every=True)
    (some,) = share_out(homogeneous(1, "ml.p3.8xlarge"), settings(), GpuFacts())
    assert some == GpuDevices(ids=FOUR)
    (named,) = share_out(homogeneous(1, "local_gpu"), settings(), GpuFacts(cdi=True))
    assert named is not None
    assert named.names == ("nvidia.com/gpu=all",)


@given(
    hosts=st.integers(1, 8),
    known=st.none() | st.integers(0, 16).map(lambda count: tuple(map(str, range(count)))),
    asked=st.sampled_from(["auto", "all", "none", 1, 3, [1, 0], ["GPU-a", 4]]),
    kind=st.sampled_from(["ml.m5.large", "ml.g4dn.12xlarge", "ml.g4dn.xlarge", "local_gpu", "local"]),
    busy=st.sets(st.integers(0, 16).map(str)),
)
def test_no_gpu_is_given_twice(
    hosts: int, known: tuple[str, ...] | None, asked: Any, kind: str, busy: set[str]
) -> None:
    facts = GpuFacts(ids=known, busy=dict.fromkeys(busy, "other"))
    local = settings(Gpus=asked)
    shared = share_out(homogeneous(hosts, kind), local, facts)
    given_away = [gpu for each in shared if each is not None for gpu in each.ids]
    assert len(set(given_away)) == len(given_away)
    counts = gpu_counts(homogeneous(hosts, kind), local, known)
    assert [0 if each is None else len(each.ids) or EVERY for each in shared] == list(counts)


def test_the_script_asks_as_the_run_does(plan: Planner) -> None:
    def script(gpus: Any, facts: GpuFacts) -> str:
        machine = MachineFacts(cpus=16, memory_mib=64_000, accelerators=AcceleratorFacts(gpus=facts))
        return shell_script(plan({}, {"Gpus": gpus}, machine=machine))

    assert "\n  --gpus all \\" in script("all", GpuFacts(ids=FOUR))
    assert """\n  --gpus '"device=1,2"' \\""" in script([1, 2], GpuFacts(ids=FOUR))
    assert "\n  --device nvidia.com/gpu=1 \\\n  --device nvidia.com/gpu=2 \\" in script(
        [1, 2], GpuFacts(ids=FOUR, cdi=True)
    )
    assert "gpu" not in script("none", GpuFacts(ids=FOUR))
