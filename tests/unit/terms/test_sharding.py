"""The objects of each host, and their order."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.terms.listing import WHOLE, Shard, epoch_order

LENGTHS = st.integers(0, 300)
COUNTS = st.integers(1, 20)
SEEDS = st.none() | st.integers(-(2**63), 2**63 - 1)


def test_twenty_keys_on_two_hosts_are_dealt_as_the_service_was_seen_to() -> None:
    keys = sorted(f"algo-{folder}/state_algo-{folder}_{number}" for folder in (1, 2) for number in range(1, 11))
    first, second = (keys[Shard(index=index, count=2).slice] for index in (0, 1))
    for folder in (1, 2):
        stem = f"algo-{folder}/state_algo-{folder}_"
        assert [key.removeprefix(stem) for key in first if key.startswith(stem)] == ["1", "2", "4", "6", "8"]
        assert [key.removeprefix(stem) for key in second if key.startswith(stem)] == ["10", "3", "5", "7", "9"]


@given(length=LENGTHS, count=COUNTS)
def test_shards_are_a_partition_into_parts_of_almost_one_size(length: int, count: int) -> None:
    parts = [list(range(length))[Shard(index=index, count=count).slice] for index in range(count)]
    assert sorted(chain(*parts)) == list(range(length))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(length=LENGTHS, count=COUNTS, seed=SEEDS, epoch=st.integers(0, 5))
def test_an_epoch_sends_everything_once_whoever_gets_it(length: int, count: int, seed: int | None, epoch: int) -> None:
    parts = [
        list(epoch_order(length, seed=seed, epoch=epoch, shard=Shard(index=index, count=count)))
        for index in range(count)
    ]
    assert sorted(chain(*parts)) == list(range(length))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_without_a_seed_the_order_is_that_of_the_listing_in_every_epoch() -> None:
    assert list(epoch_order(5, seed=None, epoch=0)) == list(epoch_order(5, seed=None, epoch=7)) == [0, 1, 2, 3, 4]
    assert list(epoch_order(5, seed=None, epoch=3, shard=Shard(index=1, count=2))) == [1, 3]


@pytest.mark.parametrize("seed", [0, 1, -5, 2**63 - 1])
def test_a_seed_gives_every_epoch_an_order_of_its_own_and_always_the_same(seed: int) -> None:
    orders = [tuple(epoch_order(50, seed=seed, epoch=epoch)) for epoch in range(5)]
    assert len(set(orders)) == 5
    assert orders == [tuple(epoch_order(50, seed=seed, epoch=epoch, shard=WHOLE)) for epoch in range(5)]
    assert tuple(epoch_order(50, seed=seed + 1 if seed < 2**63 - 1 else 3, epoch=0)) != orders[0]


def test_a_shuffle_may_move_an_object_to_another_host() -> None:
    first = [set(epoch_order(50, seed=7, epoch=epoch, shard=Shard(index=0, count=2))) for epoch in range(2)]
    assert first[0] != first[1]
