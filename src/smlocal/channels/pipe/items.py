"""What a Pipe channel sends in one epoch."""

from collections.abc import Callable, Iterator
from typing import Protocol

from smlocal.contract.sharding import epoch_order
from smlocal.planning.aspects.inputs.plan import PipePlan
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.interface import S3Object, listed_object


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalObject:
    """A local file that is sent as an object."""

    path: str
    uri: str
    links: bool = True
    """False if no link in the path may be followed."""


Item = LocalObject | S3Object | bytes
"""Bytes are sent unchanged, without decompression."""


class Content(Protocol):
    """Everything that a channel sends."""

    @property
    def remote(self) -> bool:
        """Whether any of it is in S3."""
        ...

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """A function that yields the items of one epoch in order; it may be called several times."""
        ...

    def close(self) -> None:
        """Close files."""


class Objects:
    """Whole objects, selected by a prefix or a manifest."""

    def __init__(self, plan: PipePlan) -> None:
        self._plan = plan
        self._listing = plan.listing

    @property
    def remote(self) -> bool:
        """Whether the objects are in S3."""
        return self._listing.remote

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """This host's objects in this epoch's order."""
        plan = self._plan
        order = epoch_order(len(self._listing.paths), seed=plan.seed, epoch=number, shard=plan.shard)
        return lambda: map(self._object, order)

    def close(self) -> None:
        """Nothing is open."""

    def _object(self, index: int) -> Item:
        listing = self._listing
        if listing.remote:
            return listed_object(listing, index)
        return LocalObject(
            path=listing.file(index), uri=f"{listing.bucket_uri}{listing.key(index)}", links=listing.links
        )
