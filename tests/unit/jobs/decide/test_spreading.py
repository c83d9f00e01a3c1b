"""Which of several engines runs a job whole, and what the book of them says."""

import json

import pytest

from smlocal.jobs.decide.spreading import (
    Need,
    Room,
    choose_engine,
    entry_of,
    kept,
    need_of,
    taken_at,
)
from smlocal.sagemaker.contract.instance_types import host_of_type
from smlocal.terms.hosts import EVERY

LARGE = Need(cpus=2, memory_mib=8192)
GPU = Need(cpus=4, memory_mib=16384, gpus=1)
MACHINE = Need(machines=1)


def room(name: str, *taken: Need, cpus: int = 8, memory: int = 32768, gpus: int | None = None) -> Room:
    return Room(engine=name, address=f"at {name}", cpus=cpus, memory_mib=memory, gpus=gpus, taken=taken)


@pytest.mark.parametrize(
    ("rooms", "need", "most", "chosen"),
    [
        pytest.param([room("a"), room("b")], LARGE, None, "a", id="the first of equals"),
        pytest.param([room("a", LARGE), room("b")], LARGE, None, "b", id="the free one"),
        pytest.param([room("a"), room("b", cpus=16, memory=65536)], LARGE, None, "b", id="the larger one"),
        pytest.param([room("a", LARGE), room("b", cpus=4)], LARGE, None, "a", id="larger, and not idle"),
        pytest.param([room("a", memory=8192), room("b", cpus=4)], LARGE, None, "b", id="what there is least of"),
        pytest.param([room("a", LARGE, LARGE, cpus=2), room("b", LARGE, cpus=2)], LARGE, None, "b", id="both overfull"),
        pytest.param([room("a", Need(), Need()), room("b", Need())], LARGE, None, "b", id="fewer jobs of no size"),
        pytest.param([room("a"), room("b", MACHINE)], MACHINE, None, "a", id="the type local takes a machine"),
        pytest.param([room("a", MACHINE), room("b", cpus=2, memory=4096)], MACHINE, None, "b", id="the next, smaller"),
        pytest.param([room("a", MACHINE, cpus=64), room("b", LARGE)], LARGE, None, "b", id="taken as a whole"),
        pytest.param([room("a", gpus=0), room("b", GPU, cpus=4, gpus=4)], GPU, None, "b", id="with GPUs"),
        pytest.param([room("a", GPU, gpus=1), room("b", LARGE, gpus=1)], GPU, None, "b", id="with a free GPU"),
        pytest.param([room("a", Need(gpus=EVERY), gpus=8), room("b", gpus=1)], GPU, None, "b", id="all of them taken"),
        pytest.param([room("a", gpus=0), room("b", gpus=0)], GPU, None, "a", id="no GPUs at all: the job says so"),
        pytest.param([room("a", gpus=0), room("b")], GPU, None, "b", id="GPUs that nobody has counted"),
        pytest.param([room("a", cpus=64), room("b", GPU, gpus=1)], LARGE, None, "a", id="GPUs that nobody wants"),
        pytest.param([room("a", LARGE, LARGE, cpus=64), room("b", LARGE)], LARGE, 2, "b", id="below the limit"),
        pytest.param([room("a", LARGE, LARGE), room("b", LARGE, LARGE)], LARGE, 2, None, id="all at the limit"),
        pytest.param([room("a", LARGE), room("b")], Need(instances=2), 2, "b", id="several hosts count"),
        pytest.param([], LARGE, None, None, id="none"),
    ],
)
def test_the_engine_with_the_most_free_room_is_chosen(
    rooms: list[Room], need: Need, most: int | None, chosen: str | None
) -> None:
    found = choose_engine(rooms, need, most=most)
    assert (found and found.engine) == chosen


def test_jobs_that_begin_one_after_the_other_are_shared_out_by_size() -> None:
    rooms = {"a": room("a", cpus=8), "b": room("b", cpus=4, memory=16384)}
    placed = []
    for _ in range(6):
        found = choose_engine(list(rooms.values()), LARGE)
        assert found is not None
        placed.append(found.engine)
        rooms[found.engine] = room(found.engine, *found.taken, LARGE, cpus=found.cpus, memory=found.memory_mib)
    assert placed.count("a") == 4
    assert placed.count("b") == 2


@pytest.mark.parametrize(
    ("types", "gpus", "need"),
    [
        (["ml.m5.large"] * 2, [0, 0], Need(cpus=4, memory_mib=16384, instances=2)),
        (["ml.g5.xlarge", "ml.m5.large"], [1, 0], Need(cpus=6, memory_mib=24576, gpus=1, instances=2)),
        (["local_gpu"], [EVERY], Need(gpus=EVERY, machines=1)),
    ],
)
def test_what_hosts_take(types: list[str], gpus: list[int], need: Need) -> None:
    assert need_of([host_of_type(f"algo-{n}", n, kind) for n, kind in enumerate(types, 1)], gpus) == need


def test_the_book_counts_jobs_that_run_and_forgets_those_that_have_ended() -> None:
    at = {"a": 100.0, "ended": 100.0, "newer": 201.0, "direct": 150.0, "never begun": 50.0}
    runs = {"a": "1", "ended": "2", "newer": "3"}
    book = {name: entry_of(room("x"), LARGE, run=runs.get(name, ""), at=when) for name, when in at.items()}
    left = kept(json.loads(json.dumps(book)), unfinished={"a"}, seen=200.0, now=210.0)
    assert [*left] == ["a", "newer", "direct"]
    assert taken_at("at x", left.values()) == [LARGE] * 3
    assert taken_at("elsewhere", left.values()) == []
