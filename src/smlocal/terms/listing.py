"""The objects that a channel selects from its source, in the service's order, and the forms of S3 URIs."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from array import array
    from urllib.parse import unquote
else:
    array = at_use("array", "array")
    unquote = at_use("urllib.parse", "unquote")

_HOST = r"s3(?:[.-](?:dualstack\.)?[a-z]{2}(?:-[a-z]+)+-\d)?\.amazonaws\.com(?:\.cn)?"
_VIRTUAL = rf"https://(?P<bucket>[a-z0-9][a-z0-9.-]+)\.{_HOST}(?:/(?P<key>.*))?"
_PATH = rf"https://{_HOST}/(?P<bucket>[^/]+)(?:/(?P<key>.*))?"
_ACCESS_POINT = r"arn:[^:/]+:s3[a-z-]*:[^:/]*:[^:/]*:(?:outpost[:/][^:/]+[:/])?accesspoint[:/][^:/]+"
"""An access point instead of a bucket, also a multi-region, Object Lambda or Outposts one."""


_BUCKET = r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]"
"""Old buckets may have names that new ones may not."""


def may_be_bucket(name: str) -> bool:
    """False for anything but the name of a bucket or the ARN of an access point."""
    return re.fullmatch(f"{_BUCKET}|{_ACCESS_POINT}", name, re.ASCII) is not None


def s3_form(uri: str) -> str:
    """Convert an `https://` URI of a public endpoint to `s3://bucket/key`; other texts are returned unchanged.

    The path of an `https://` URI is percent-encoded, that of an `s3://` URI never.
    """
    if not uri.startswith("https://"):
        return uri
    # This form is rare, and compiling the patterns takes milliseconds.

    match = re.fullmatch(_PATH, uri, re.DOTALL) or re.fullmatch(_VIRTUAL, uri, re.DOTALL)
    return uri if match is None else f"s3://{match['bucket']}/{unquote(match['key'] or '')}"


def split_s3_uri(uri: str) -> tuple[str, str]:
    """Split `s3://bucket/some/key` into `s3://bucket/` and `some/key`.

    The bucket may be the ARN of an access point: `s3://arn:aws:s3:REGION:ACCOUNT:accesspoint/name/key`.
    """
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    if bucket.startswith("arn:"):
        arn = re.match(_ACCESS_POINT, rest)
        if arn is not None:
            bucket, key = arn[0], rest[arn.end() :].removeprefix("/")
    return f"{scheme}://{bucket}/", key


def bucket_name(bucket_uri: str) -> str:
    """The name, or the ARN, in `s3://bucket/`."""
    return bucket_uri.partition("://")[2].rstrip("/")


# Which objects each host gets (`ShardedByS3Key`), and their order in each epoch if they are shuffled.


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The objects one channel selects from one source, in listing order (UTF-8 byte order of their keys).

    Object i is at `paths[i]` in the channel's folder. Its key is `key_base + paths[i]` (or `keys[i]`), its URI
    `bucket_uri + key`, and its file on this machine `root`/`paths[i]` (or `file(i)`). Sequences of plain
    strings, not one object per file: a channel may have a million, which take 220 MB with their ETags.
    """

    root: str
    """The absolute local folder that `paths` are relative to; empty for objects in S3."""
    bucket_uri: str
    """`s3://bucket/` for a location in S3, mapped or not; `file:///` for a local path."""
    prefix: str
    """The key prefix: line 1 of the channel's manifest."""
    key_base: str
    """The part of the key before the path: the prefix up to its last `/`, which is included."""
    paths: Sequence[str]
    total_bytes: int | None
    """None if the listing is so long that the sizes were not read."""
    whole_tree: bool
    """True if `paths` are all files below `root`, so that `root` itself can be mounted."""
    directories: tuple[str, ...] = ()
    """Empty folders below `root`. An upload drops them, a mount shows them."""
    copy_reasons: tuple[str, ...] = ()
    """Why the folder cannot be mounted (a link that leads out of it, a mount inside it, …), one sentence each."""
    skipped: tuple[str, ...] = ()
    """Files that an upload would skip: sockets, FIFOs, devices, dangling links, with the reason."""
    unlike_service_modes: int = 0
    """The number of checked files whose mode is not the service's 0644."""
    keys: Sequence[str] = ()
    """The key of each object, if keys are not always `key_base` and the path."""
    sizes: Sequence[int] = ()
    """The size of each object in S3; empty if they are not known."""
    etags: Sequence[str] = ()
    """The ETag of each object in S3; empty if they are not known."""
    failure: str | None = None
    """Why the download fails, in the service's words.

    The job fails with it before a container starts. Nothing is listed then.
    """
    root_key: str | None = None
    """The part of the key before the file's path below `root`, if it is not `key_base`."""
    left_out: int = 0
    """The number of objects after these that a sample leaves out."""
    links: bool = True
    """False if files must be opened without following a link, for a job with limited rights: `root` has none then."""

    @property
    def remote(self) -> bool:
        """True for objects in S3."""
        return not self.root

    @property
    def bucket(self) -> str:
        """The bucket's name; empty for a local path."""
        return bucket_name(self.bucket_uri)

    def key(self, index: int) -> str:
        """The key of object `index`."""
        return self.keys[index] if self.keys else f"{self.key_base}{self.paths[index]}"

    def uri(self, path: str) -> str:
        """The URI of the object at `path`. In loops use `uri_at`, which does not search."""
        key = self.keys[self.paths.index(path)] if self.keys else f"{self.key_base}{path}"
        return f"{self.bucket_uri}{key}"

    def uri_at(self, index: int) -> str:
        """The URI of object `index`."""
        return f"{self.bucket_uri}{self.key(index)}"

    def file(self, index: int) -> str:
        """The file of object `index` on this machine."""
        return f"{self.root}/{self.below_root(index)}"

    def below_root(self, index: int) -> str:
        """The path of that file below `root`."""
        return self.paths[index] if self.root_key is None else self.key(index)[len(self.root_key) :]

    def failed(self, words: str) -> "Listing":
        """The listing of a channel whose download fails: without objects."""
        return replace(
            self,
            paths=(),
            keys=(),
            sizes=(),
            etags=(),
            directories=(),
            total_bytes=0,
            whole_tree=False,
            failure=words,
        )

    def dealt_to(self, shard: Shard) -> "Listing":
        """The part that one host gets with `ShardedByS3Key`."""
        if shard.count == 1:
            return self
        part = shard.slice
        sizes = self.sizes[part]
        return replace(
            self,
            paths=self.paths[part],
            keys=self.keys[part],
            sizes=sizes,
            etags=self.etags[part],
            total_bytes=sum(sizes) if sizes or not self.paths[part] else None,
            whole_tree=False,
            directories=(),
        )
