"""Who gets what: `ShardedByS3Key` deals objects out to hosts, `ShuffleConfig` orders them anew for every epoch."""

from array import array
from collections.abc import Sequence
from random import Random

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """Which part of a channel one host gets: every `count`-th object, from `index` on."""

    index: int = 0
    count: int = 1

    @property
    def slice(self) -> slice:
        """The part, of anything in listing order."""
        return slice(self.index, None, self.count)


WHOLE = Shard()
"""All of it, as `FullyReplicated` has it."""


def epoch_order(length: int, *, seed: int | None, epoch: int, shard: Shard = WHOLE) -> Sequence[int]:
    """Which of `length` items one host is sent in this epoch, and in which order.

    Without a seed always the same. With one the whole list is permuted for each epoch before it is dealt out, so an
    item may move to another host, as the service's documentation has it. The permutation itself is our own.
    """
    if seed is None:
        return range(length)[shard.slice]
    order = array("q", range(length))  # eight bytes for each of what may be a million
    Random(f"{seed}/{epoch}").shuffle(order)  # noqa: S311 - a reproducible order is the point
    return order[shard.slice]
