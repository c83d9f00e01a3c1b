"""Which objects each host gets (`ShardedByS3Key`), and their order in each epoch if they are shuffled."""

from array import array
from collections.abc import Sequence
from random import Random

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """The part of a channel that one host gets: every `count`-th object, beginning with `index`."""

    index: int = 0
    count: int = 1

    @property
    def slice(self) -> slice:
        """The slice of a sequence in listing order."""
        return slice(self.index, None, self.count)


WHOLE = Shard()
"""All objects (`FullyReplicated`)."""


def epoch_order(length: int, *, seed: int | None, epoch: int, shard: Shard = WHOLE) -> Sequence[int]:
    """The indexes of the items that one host gets in this epoch, in their order.

    Without a seed it is the same in every epoch. With a seed all items are shuffled in each epoch before they are
    distributed, so an item may move to another host, as AWS documents. The permutation is our own.
    """
    if seed is None:
        return range(length)[shard.slice]
    order = array("q", range(length))  # eight bytes for each of perhaps a million items
    Random(f"{seed}/{epoch}").shuffle(order)  # noqa: S311 - the order must be reproducible
    return order[shard.slice]
