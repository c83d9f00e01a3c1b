"""What everything that moves bytes out of S3 says to the client: objects, where they are, and what S3 answers."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from smlocal.sources.s3.checksum import Checksum


class S3Object(NamedTuple):
    """One object; its size and ETag are None until somebody has asked S3 for them. A listing makes millions of them."""

    bucket: str
    key: str
    size: int | None = None
    etag: str | None = None
    """As S3 sends it, with its quotes; every read then insists on this very content."""

    @property
    def uri(self) -> str:
        """`s3://bucket/key`, for people and manifests."""
        return f"s3://{self.bucket}/{self.key}"


class S3Error(Exception):
    """What S3 answered, or why it did not: a code and a sentence, as in S3's own error documents."""

    def __init__(self, code: str, message: str, *, status: int = 0, uri: str = "", operation: str = "") -> None:
        """Keep S3's words; `status` 0 means that no answer came within the time that was given."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.uri = uri
        self.operation = operation
        """What was asked, by its name in S3's API: GetObject."""


class ObjectStore(Protocol):
    """The verbs of S3 that are used; safe to call from many threads. All raise `S3Error`."""

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in listing order (UTF-8 byte order), page by page."""

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        ...

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return how many bytes there were: fewer only at the object's end."""
        ...

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object whose size is not known, and the object with its size and ETag."""
        ...

    def checksum(self, of: S3Object) -> "Checksum":
        """What adds up an object, its size known, that is read piece by piece; an object read in one go is checked."""
        ...


@runtime_checkable
class InterruptibleStore(ObjectStore, Protocol):
    """A store whose calls can be given up while they wait."""

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same store for one user; once `cancelled` says so, his calls end with some exception within a second."""
        ...
