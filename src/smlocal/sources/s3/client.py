"""S3 itself: listing, looking and reading, with the patience that a server being restarted needs."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Self

from smlocal.sources.s3.answers import Page, read_page, unanswered
from smlocal.sources.s3.connection import BrokenConnectionError
from smlocal.sources.s3.endpoint import quote
from smlocal.sources.s3.exchange import Exchange, Request
from smlocal.sources.s3.interface import S3Object
from smlocal.sources.s3.patience import Patience
from smlocal.sources.s3.ranges import RangeReader
from smlocal.sources.s3.settings import S3Settings, load_settings

if TYPE_CHECKING:
    from smlocal.sources.s3.writer import S3Writer

PATIENCE = 60.0
_MOST_PAGE = 64 << 20


def open_store(region: str, *, patience: float = PATIENCE, reach: float = math.inf) -> "S3Client":
    """The S3 that the usual AWS configuration says; raises `CredentialsMissingError` when nobody is logged in.

    Nothing is asked yet. `patience` is how many seconds one call goes on trying without a byte of what it wants,
    `reach` how many when there is nobody to ask.
    """
    return S3Client(load_settings(region, os.environ), patience=patience, reach=reach)


class S3Client:
    """An `ObjectStore`; safe to use from many threads."""

    def __init__(self, settings: S3Settings, *, patience: float = PATIENCE, reach: float = math.inf) -> None:
        """A client that has asked nothing yet."""
        self._exchange = Exchange(settings, reach=reach)
        self._endpoint_url = settings.endpoint.url
        self._sums_sent = settings.sums_sent
        self._patience = patience
        self._cancelled: Callable[[], bool] = _never

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same for somebody who may lose interest: calls then end with `FetchCancelledError` within a second."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._cancelled = cancelled  # noqa: SLF001  one of us
        return other

    @property
    def endpoint_url(self) -> str:
        """Where S3 is: two servers may have objects of the same name."""
        return self._endpoint_url

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        self._exchange.close()

    def writer(self) -> "S3Writer":
        """What writes, with the same connections and for the same somebody."""
        from smlocal.sources.s3.writer import S3Writer  # most jobs only read

        return S3Writer(self._exchange, patience=self._patience, cancelled=self._cancelled, sums_sent=self._sums_sent)

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in listing order; memory holds one page."""
        following = ""
        while True:
            page = self._page(bucket, prefix, following)
            yield from page.objects
            following = page.following
            if not following:
                return

    def _page(self, bucket: str, prefix: str, following: str) -> Page:
        parameters = {"encoding-type": "url", "list-type": "2", "prefix": prefix}
        if following:
            parameters["continuation-token"] = following
        request = Request(
            operation="ListObjectsV2",
            method="GET",
            bucket=bucket,
            query="&".join(f"{key}={quote(parameters[key], slash='%2F')}" for key in sorted(parameters)),
            uri=f"s3://{bucket}/{prefix}",
        )
        patience = Patience(self._patience, self._cancelled)
        while True:
            answer = self._exchange.send(request, patience)
            try:
                return read_page(answer.connection.read(_MOST_PAGE), bucket)
            except (BrokenConnectionError, ValueError) as error:
                answer.connection.close()
                patience.pause(unanswered(error, request.uri, request.operation))
            finally:
                self._exchange.give_back(answer)

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        request = Request(operation="HeadObject", method="HEAD", bucket=bucket, key=key, uri=f"s3://{bucket}/{key}")
        answer = self._exchange.send(request, Patience(self._patience, self._cancelled))
        self._exchange.give_back(answer)
        length, etag = answer.headers.get("content-length", "0"), answer.headers.get("etag")
        return S3Object(bucket=bucket, key=key, size=int(length), etag=etag)

    def open_range(self, wanted: S3Object, start: int = 0, length: int | None = None) -> RangeReader:
        """A range to be read piece by piece, or all from `start` on; nothing is asked before the first read."""
        return RangeReader(self._exchange, Patience(self._patience, self._cancelled), wanted, start, length)

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return how many bytes there were: fewer only at the object's end."""
        if not buffer:
            return 0
        with closing(self.open_range(wanted, start, len(buffer))) as reader:
            return reader.fill(buffer)

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object whose size is not known, and the object with its size and ETag."""
        with closing(self.open_range(wanted, 0, most)) as reader:
            reader.readinto(memoryview(b""))  # now the size is known
            size = reader.object.size
            data = bytearray(most if size is None else min(most, size))
            with memoryview(data) as view:
                count = reader.fill(view)
            del data[count:]
            return reader.object, bytes(data)


def _never() -> bool:
    return False
