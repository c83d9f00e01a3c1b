"""The bytes that a Pipe channel sends in one epoch, and the streams from S3 of one feed."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.pipe.stop import StoppedError
from smlocal.data.sources.s3.interface import ObjectStore, S3Object, listed_object
from smlocal.data.sources.s3.object_stream import ObjectStream, StreamClosedError
from smlocal.jobs.planning.aspects.inputs.plan import PipePlan
from smlocal.terms.listing import epoch_order


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


# The streams from S3 of one feed: they share its memory, and are stopped together.

_SHARE = 7, 8
_LEAST = 2 << 20


class Streams:
    """Opens streams of objects in S3, which read ahead."""

    def __init__(self, store: Callable[[], ObjectStore], budget: int) -> None:
        """`store` is called at the first use; all streams together read at most `budget` bytes ahead."""
        self._make_store = store
        self._store: ObjectStore | None = None
        self._left = budget
        self._open: set[ObjectStream] = set()
        self._stopped = False
        self._lock = Lock()

    @property
    def store(self) -> ObjectStore:
        """The S3 client, made once."""
        with self._lock:
            if self._store is None:
                self._store = self._make_store()
            return self._store

    @contextmanager
    def open(self, objects: Iterable[S3Object]) -> Iterator["ObjectStream"]:
        """A stream of these objects, closed when the context ends.

        It takes most of the free memory and leaves some: its reader may go on to the next epoch without closing it.
        """
        store = self.store
        with self._lock:
            if self._stopped:
                raise StoppedError
            budget = max(_LEAST, self._left * _SHARE[0] // _SHARE[1])
            self._left -= budget
            stream = ObjectStream(store, objects, budget=budget)
            self._open.add(stream)
        try:
            yield stream
        except StreamClosedError as error:
            raise StoppedError from error
        finally:
            stream.close()
            with self._lock:
                self._open.discard(stream)
                self._left += budget

    def stop(self) -> None:
        """Close all streams; no new one can be opened."""
        with self._lock:
            self._stopped = True
            streams = list(self._open)
        for stream in streams:
            stream.close()
