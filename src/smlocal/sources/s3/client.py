"""S3 itself: listing, looking and reading, with the patience that a server being restarted needs."""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Self

from smlocal.sources.s3.answers import damaged, unanswered
from smlocal.sources.s3.checksum import Checksum
from smlocal.sources.s3.connection import BrokenConnectionError
from smlocal.sources.s3.endpoint import quote
from smlocal.sources.s3.exchange import Exchange, Request
from smlocal.sources.s3.expectation import CHECKSUMS, checksum_of
from smlocal.sources.s3.interface import S3Object
from smlocal.sources.s3.pages import Page, read_page
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
        said = self._head(S3Object(bucket=bucket, key=key))
        return S3Object(bucket=bucket, key=key, size=int(said.get("content-length", "0")), etag=said.get("etag"))

    def checksum(self, of: S3Object, said: Mapping[str, str] | None = None, *, exactly: bool = False) -> Checksum:
        """What adds up an object, its size known, in order; `said` are the headers of an answer that held all of it.

        Bytes that prove wrong are to be looked at again, `exactly`: nothing is then taken for granted.
        """
        same = {"if-match": of.etag} if of.etag else {}
        return checksum_of(
            of.size or 0,
            said,
            lambda: self._head(of, {**CHECKSUMS, **same}),
            lambda number: self._head(of, query=f"partNumber={number}"),
            exactly=exactly,
        )

    def _head(self, of: S3Object, headers: Mapping[str, str] | None = None, *, query: str = "") -> dict[str, str]:
        request = Request(
            operation="HeadObject",
            method="HEAD",
            bucket=of.bucket,
            key=of.key,
            query=query,
            headers=headers or {},
            uri=of.uri,
        )
        answer = self._exchange.send(request, Patience(self._patience, self._cancelled))
        self._exchange.give_back(answer)
        return answer.headers

    def open_range(self, wanted: S3Object, start: int = 0, length: int | None = None) -> RangeReader:
        """A range to be read piece by piece, or all from `start` on; nothing is asked before the first read."""
        return RangeReader(self._exchange, Patience(self._patience, self._cancelled), wanted, start, length)

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return how many bytes there were: fewer only at the object's end."""
        if not buffer:
            return 0
        for exactly in (False, True):
            with closing(self.open_range(wanted, start, len(buffer))) as reader:
                count = reader.fill(buffer)
                if self._adds_up(reader, buffer[:count], exactly=exactly):
                    return count
        raise damaged(wanted.uri)

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object whose size is not known, and the object with its size and ETag."""
        for exactly in (False, True):
            with closing(self.open_range(wanted, 0, most)) as reader:
                reader.readinto(memoryview(b""))  # now the size is known
                size = reader.object.size
                data = memoryview(bytearray(most if size is None else min(most, size)))
                data = data[: reader.fill(data)]
                if self._adds_up(reader, data, exactly=exactly):
                    return reader.object, bytes(data)
        raise damaged(wanted.uri)

    def _adds_up(self, reader: RangeReader, data: memoryview, *, exactly: bool) -> bool:
        """Whether what a reader gave is what S3 was given, as far as that is known: not of a part."""
        if not reader.headers:
            return True
        checksum = self.checksum(reader.object, reader.headers, exactly=exactly)
        checksum.update(data)
        return checksum.matches


def _never() -> bool:
    return False
