"""What is sent for one epoch, object by object."""

from collections.abc import Callable, Iterator
from typing import Protocol

from smlocal.contract.sharding import epoch_order
from smlocal.planning.model import PipePlan
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.interface import S3Object


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalObject:
    """A file here that stands for an object."""

    path: str
    uri: str


Item = LocalObject | S3Object | bytes
"""Bytes are sent as they are, never decompressed."""


class Content(Protocol):
    """What a channel sends."""

    @property
    def remote(self) -> bool:
        """Whether any of it is in S3."""
        ...

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """Put one epoch in order; what comes back can be called several times, and yields the same each time."""
        ...

    def close(self) -> None:
        """Let go of files."""


class Objects:
    """Whole objects, as a prefix or a manifest selects them."""

    def __init__(self, plan: PipePlan) -> None:
        self._plan = plan
        self._listing = plan.listing

    @property
    def remote(self) -> bool:
        """All of it or nothing."""
        return self._listing.remote

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """All of this host's objects, in this epoch's order."""
        plan = self._plan
        order = epoch_order(len(self._listing.paths), seed=plan.seed, epoch=number, shard=plan.shard)
        return lambda: map(self._object, order)

    def close(self) -> None:
        """Nothing is held."""

    def _object(self, index: int) -> Item:
        listing = self._listing
        if listing.remote:
            return S3Object(
                bucket=listing.bucket,
                key=listing.key(index),
                size=listing.sizes[index] if listing.sizes else None,
                etag=listing.etags[index] if listing.etags else None,
            )
        return LocalObject(path=listing.file(index), uri=f"{listing.bucket_uri}{listing.key(index)}")
