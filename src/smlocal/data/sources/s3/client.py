"""The S3 client: listing, HEAD and reading, repeated while S3 is temporarily unavailable."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Self

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from smlocal.data.sources.s3.aws_client import AwsClient, RenewableClient
from smlocal.data.sources.s3.error_responses import (
    Retry,
    checksum_mismatch,
    is_expired,
    is_temporary,
    is_untrusted,
    never,
    s3_error,
)
from smlocal.data.sources.s3.interface import Checksum, S3Error, S3Object
from smlocal.data.sources.s3.range_reader import ObjectBody, RangeReader, expected_checksum, get_object
from smlocal.errors import CredentialsMissingError
from smlocal.terms.rights import Rights

RETRY_SECONDS = 60.0


def open_store(
    region: str,
    *,
    rights: Rights,
    retry_seconds: float = RETRY_SECONDS,
    connect_seconds: float = math.inf,
    not_checked: Callable[[str, str], None] = lambda _kind, _uri: None,
    profile: str | None = None,
) -> "S3Client":
    """The S3 of the user's AWS configuration; raises `CredentialsMissingError` if there are no credentials.

    No request is sent yet. A call is repeated until `retry_seconds` have passed without a byte of what it wants, and
    until `connect_seconds` have passed if S3 cannot be reached at all. `not_checked` is told, from any thread, the kind
    of checksum and the URI of each object that cannot be checked without the package awscrt. `profile`: another one
    than the environment names. `rights`: another bucket than these is answered with the `S3Error` AccessDenied, and
    S3 is not asked.
    """
    source = RenewableClient(region, rights=rights, retry_seconds=retry_seconds, profile=profile)
    return S3Client(source, retry_seconds=retry_seconds, connect_seconds=connect_seconds, not_checked=not_checked)


class S3Client:
    """An `ObjectStore`; safe to use from many threads."""

    def __init__(
        self,
        source: RenewableClient,
        *,
        retry_seconds: float,
        connect_seconds: float,
        not_checked: Callable[[str, str], None],
    ) -> None:
        """Use `open_store`."""
        self._source = source
        self._retry_seconds, self._connect_seconds = retry_seconds, connect_seconds
        self._not_checked = not_checked
        self.cancelled: Callable[[], bool] = never

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same client for a caller who may cancel: `FetchCancelledError` at the next piece or attempt.

        A silent connection may last longer. Use it in a thread that can be abandoned, or with `until_cancelled`.
        """
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.cancelled = cancelled
        return other

    @property
    def endpoint_url(self) -> str:
        """The address of S3: two servers may have objects with the same name."""
        return self._source.current.endpoint_url

    def close(self) -> None:
        """Close idle connections."""
        self._source.current.close()

    def call(
        self, operation: str, uri: str, request: Callable[[Any], dict[str, Any]], *, slow: bool = False
    ) -> dict[str, Any]:
        """Call `request` with botocore's client until there is an answer; raises `S3Error`.

        `slow` is for answers that may take minutes.
        """

        def send(aws: AwsClient) -> dict[str, Any]:
            try:
                return request(aws.slow_client if slow else aws.client)
            except (BotoCoreError, ClientError, ResponseParserError) as error:
                raise s3_error(error, uri, operation) from error

        answer: dict[str, Any] = self._with_retries(send, self._retry())
        return answer

    def _retry(self) -> Retry:
        return Retry(self._retry_seconds, self.cancelled)

    def _with_retries(self, send: Callable[[AwsClient], Any], retry: Retry) -> Any:
        """Send until there is an answer or the time is up; if the credentials have expired, once more with new ones."""
        renewed = False
        began = time.monotonic()
        while True:
            retry.check()
            aws = self._source.current
            try:
                return send(aws)
            except CredentialsMissingError as error:  # there were credentials at the start
                raise S3Error("ExpiredToken", "The provided token has expired.", status=400) from error
            except S3Error as error:
                if is_expired(error) and not renewed and self._source.renew(aws):
                    renewed = True
                elif not error.status:
                    if time.monotonic() - began > self._connect_seconds or is_untrusted(error.__cause__):
                        raise
                    retry.pause(error)
                elif is_temporary(error):
                    retry.pause(error)
                else:
                    raise

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in the server's order; memory holds one page."""
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
        headers = self._head(S3Object(bucket=bucket, key=key))
        return S3Object(bucket=bucket, key=key, size=int(headers.get("content-length", "0")), etag=headers.get("etag"))

    def checksum(self, of: S3Object, headers: Mapping[str, str] | None = None, *, exactly: bool = False) -> Checksum:
        """The checksum for the bytes of an object; its size must be known.

        `headers` are those of an answer with the whole object. `exactly` asks for the length of every part, for an
        object whose bytes did not match.
        """
        same = {"IfMatch": of.etag} if of.etag else {}
        return expected_checksum(
            of.size or 0,
            headers,
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
        body: ObjectBody = self._with_retries(partial(get_object, wanted=wanted, headers=headers), retry)
        return body

    def open_range(self, wanted: S3Object, start: int = 0, length: int | None = None) -> RangeReader:
        """A reader of a range, to the object's end without `length`; no request is sent before the first read."""
        return RangeReader(self._get, self._retry(), wanted, start, length)

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return the number of bytes, smaller only at the object's end."""
        if not buffer:
            return 0
        for exactly in (False, True):
            with closing(self.open_range(wanted, start, len(buffer))) as reader:
                count = reader.fill(buffer)
                if self._matches(reader, buffer[:count], exactly=exactly):
                    return count
        raise checksum_mismatch(wanted.uri)

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object of unknown size, and the object with its size and ETag."""
        for exactly in (False, True):
            with closing(self.open_range(wanted, 0, most)) as reader:
                reader.readinto(memoryview(b""))  # finds out the size
                size = reader.object.size
                data = memoryview(bytearray(most if size is None else min(most, size)))
                data = data[: reader.fill(data)]
                if self._matches(reader, data, exactly=exactly):
                    return reader.object, bytes(data)
        raise checksum_mismatch(wanted.uri)

    def _matches(self, reader: RangeReader, data: memoryview, *, exactly: bool) -> bool:
        """Compare the checksum of a whole object; True for a part of one."""
        if not reader.headers:
            return True
        checksum = self.checksum(reader.object, reader.headers, exactly=exactly)
        checksum.update(data)
        return checksum.matches


def _quoted(etag: str | None) -> str | None:
    """An ETag with its quotes, which some servers leave out in listings."""
    return f'"{etag}"' if etag and '"' not in etag else etag or None
