"""The interface of the S3 client: objects, errors, and the calls that readers use."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, Self, runtime_checkable

from smlocal.data.sources.s3.checksum import Checksum
from smlocal.terms.listing import Listing


class S3Object(NamedTuple):
    """One object; size and ETag are None until they are known. A listing makes millions of these."""

    bucket: str
    key: str
    size: int | None = None
    etag: str | None = None
    """As S3 sends it, with its quotes; every read then requires this version."""

    @property
    def uri(self) -> str:
        """`s3://bucket/key`."""
        return f"s3://{self.bucket}/{self.key}"


def listed_object(listing: Listing, index: int) -> S3Object:
    """Object `index` of a listing; its size and ETag are None if the listing has none."""
    return S3Object(
        listing.bucket,
        listing.key(index),
        listing.sizes[index] if listing.sizes else None,
        (listing.etags[index] or None) if listing.etags else None,
    )


class S3Error(Exception):
    """The error S3 answered, or why it did not answer: a code and a message, as in S3's error documents."""

    def __init__(self, code: str, message: str, *, status: int = 0, uri: str = "", operation: str = "") -> None:
        """`status` 0 means that there was no answer in time."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.uri = uri
        self.operation = operation
        """The name of the request in S3's API: GetObject."""


class ObjectStore(Protocol):
    """The calls of S3 that readers use; safe to use from many threads. All raise `S3Error`."""

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in the server's order, page by page."""

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        ...

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return the number of bytes, smaller only at the object's end."""
        ...

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object of unknown size, and the object with its size and ETag."""
        ...

    def checksum(self, of: S3Object) -> "Checksum":
        """The checksum of an object that is read in pieces; one that is read in one call has been compared."""
        ...


@runtime_checkable
class InterruptibleStore(ObjectStore, Protocol):
    """A store whose calls can be cancelled while they wait."""

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same store for a caller who may cancel: its calls then raise within a second."""
        ...
