"""The readers of each epoch: shards and shuffles."""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

from smlocal.terms.listing import Shard

Feeding = Callable[..., Any]
FILES = {f"{number:02}": b"%02d " % number for number in range(40)}


def test_without_a_seed_every_epoch_is_in_listing_order(feeding: Feeding) -> None:
    feed = feeding(FILES)
    assert feed.read(0) == feed.read(1) == b"".join(FILES.values())


def test_a_shuffle_is_another_permutation_in_each_epoch(feeding: Feeding) -> None:
    feed = feeding(FILES, seed=7)
    epochs = [feed.read(epoch).split() for epoch in range(4)]
    assert all(Counter(epoch) == Counter(b"".join(FILES.values()).split()) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4


def test_a_shuffle_can_be_had_again(feeding: Feeding) -> None:
    one, same, other = (feeding(FILES, seed=seed, name=name) for seed, name in ((7, "a"), (7, "b"), (8, "c")))
    for epoch in range(2):
        read = one.read(epoch)
        assert same.read(epoch) == read
        assert other.read(epoch) != read


def test_shards_are_dealt_out_in_turn(feeding: Feeding) -> None:
    files = {name: name.encode() for name in "abcde"}
    feeds = [feeding(files, shard=Shard(index=index, count=2), name=f"host-{index}") for index in range(2)]
    assert [feed.read(0) for feed in feeds] == [b"ace", b"bd"]


def test_a_shuffle_of_shards_is_one_of_the_whole(feeding: Feeding) -> None:
    feeds = [feeding(FILES, shard=Shard(index=index, count=3), seed=1, name=f"h{index}") for index in range(3)]
    owners = []
    for epoch in range(3):
        shares = [feed.read(epoch).split() for feed in feeds]
        assert Counter(chain.from_iterable(shares)) == Counter(b"".join(FILES.values()).split())
        owners.append(frozenset(shares[0]))
    assert len(set(owners)) == 3


def test_more_hosts_than_objects(feeding: Feeding) -> None:
    feed = feeding({"a": b"a"}, shard=Shard(index=1, count=2))
    assert feed.read(0) == feed.read(1) == b""
