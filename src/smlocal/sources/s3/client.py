"""S3 itself: listing, looking and reading, with the patience that a server being restarted needs."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from smlocal.errors import CredentialsMissingError
from smlocal.sources.s3.aws_client import AwsClient, AwsSource
from smlocal.sources.s3.checksum import Checksum
from smlocal.sources.s3.error_responses import damaged, failure_of, is_expired, is_untrusted, is_worth_another_attempt
from smlocal.sources.s3.get_object import ObjectBody, get_object
from smlocal.sources.s3.interface import S3Error, S3Object
from smlocal.sources.s3.range_reader import RangeReader
from smlocal.sources.s3.retry import Retry, never
from smlocal.sources.s3.stored_checksum import expected_checksum

if TYPE_CHECKING:
    from smlocal.sources.s3.writer import S3Writer

RETRY_SECONDS = 60.0


def open_store(
    region: str,
    *,
    retry_seconds: float = RETRY_SECONDS,
    reach: float = math.inf,
    not_checked: Callable[[str, str], None] = lambda _kind, _uri: None,
) -> "S3Client":
    """The S3 of the user's AWS configuration; raises `CredentialsMissingError` when nobody is logged in.

    No request is sent yet. `retry_seconds` is how many seconds one call goes on trying without a byte of what it wants,
    `reach` how many when S3 cannot be reached at all. `not_checked` is told, from any thread, the kind of checksum and
    the URI of each object that cannot be checked without the package awscrt.
    """
    return S3Client(
        AwsSource(region, retry_seconds=retry_seconds),
        retry_seconds=retry_seconds,
        reach=reach,
        not_checked=not_checked,
    )


class S3Client:
    """An `ObjectStore`; safe to use from many threads."""

    def __init__(
        self, source: AwsSource, *, retry_seconds: float, reach: float, not_checked: Callable[[str, str], None]
    ) -> None:
        """A client that has asked nothing yet."""
        self._not_checked = not_checked
        self._source = source
        self._retry_seconds = retry_seconds
        self._reach = reach
        self._cancelled: Callable[[], bool] = never

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same for a caller who may cancel: `FetchCancelledError` at the next piece or attempt.

        A connection may be silent for longer: for threads that can be left behind; others use `until_cancelled`.
        """
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._cancelled = cancelled  # noqa: SLF001  one of us
        return other

    @property
    def endpoint_url(self) -> str:
        """Where S3 is: two servers may have objects of the same name."""
        return self._source.current.endpoint_url

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        self._source.current.close()

    def writer(self) -> "S3Writer":
        """What writes, with the same connections and the same way to cancel."""
        from smlocal.sources.s3.writer import S3Writer  # most jobs only read

        return S3Writer(self, self._cancelled)

    def call(
        self, operation: str, uri: str, request: Callable[[Any], dict[str, Any]], *, patient: bool = False
    ) -> dict[str, Any]:
        """Send a request by botocore's client, which `request` is given, until there is an answer.

        Raises `S3Error`. `patient` is for answers that take minutes.
        """
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        def ask(aws: AwsClient) -> dict[str, Any]:
            try:
                return request(aws.slow_client if patient else aws.client)
            except (BotoCoreError, ClientError, ResponseParserError) as error:
                raise failure_of(error, uri, operation) from error

        answer: dict[str, Any] = self._persist(ask, Retry(self._retry_seconds, self._cancelled))
        return answer

    def _persist(self, ask: Callable[[AwsClient], Any], retry: Retry) -> Any:
        """Ask until there is an answer or the time is over; with other credentials once these have expired."""
        renewed = False
        began = time.monotonic()
        while True:
            retry.check()
            aws = self._source.current
            try:
                return ask(aws)
            except CredentialsMissingError as error:  # they were there at the start
                words = "The provided token has expired."
                raise S3Error("ExpiredToken", words, status=400) from error
            except S3Error as error:
                if is_expired(error) and not renewed and self._has_others(aws):
                    renewed = True
                elif not error.status:
                    if time.monotonic() - began > self._reach or is_untrusted(error.__cause__):
                        raise
                    retry.pause(error)
                elif is_worth_another_attempt(error):
                    retry.pause(error)
                else:
                    raise

    def _has_others(self, refused: AwsClient) -> bool:
        try:
            return self._source.renew(refused)
        except CredentialsMissingError:
            return False

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in listing order; memory holds one page."""
        uri = f"s3://{bucket}/{prefix}"
        more: dict[str, str] = {}
        while True:
            page = self.call(
                "ListObjectsV2", uri, lambda client: client.list_objects_v2(Bucket=bucket, Prefix=prefix, **more)
            )
            for each in page.get("Contents", ()):
                yield S3Object(bucket, each["Key"], int(each["Size"]), _quoted(each.get("ETag")))
            if not page.get("IsTruncated") or not page.get("NextContinuationToken"):
                return
            more["ContinuationToken"] = page["NextContinuationToken"]

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        said = self._head(S3Object(bucket=bucket, key=key))
        return S3Object(bucket=bucket, key=key, size=int(said.get("content-length", "0")), etag=said.get("etag"))

    def checksum(self, of: S3Object, said: Mapping[str, str] | None = None, *, exactly: bool = False) -> Checksum:
        """What adds up an object, its size known, in order; `said` are the headers of an answer that held all of it.

        Bytes that prove wrong are to be looked at again, `exactly`: nothing is then taken for granted.
        """
        same = {"IfMatch": of.etag} if of.etag else {}
        return expected_checksum(
            of.size or 0,
            said,
            head=lambda: self._head(of, ChecksumMode="ENABLED", **same),
            head_of_part=lambda number: self._head(of, PartNumber=number),
            exactly=exactly,
            needs_awscrt=lambda kind: self._not_checked(kind, of.uri),
        )

    def _head(self, of: S3Object, **arguments: Any) -> Mapping[str, str]:
        answer = self.call(
            "HeadObject", of.uri, lambda client: client.head_object(Bucket=of.bucket, Key=of.key, **arguments)
        )
        headers: Mapping[str, str] = answer["ResponseMetadata"]["HTTPHeaders"]
        return headers

    def _get(self, wanted: S3Object, headers: Mapping[str, str], retry: Retry) -> ObjectBody:
        body: ObjectBody = self._persist(partial(get_object, wanted=wanted, headers=headers), retry)
        return body

    def open_range(self, wanted: S3Object, start: int = 0, length: int | None = None) -> RangeReader:
        """A range to be read piece by piece, or all from `start` on; nothing is asked before the first read."""
        return RangeReader(self._get, Retry(self._retry_seconds, self._cancelled), wanted, start, length)

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


def _quoted(etag: str | None) -> str | None:
    """As in a header; not every server quotes it in a listing."""
    return f'"{etag}"' if etag and '"' not in etag else etag or None
