"""What a source holds, as the rest of the house sees it: names in the service's order, never the bytes."""

from collections.abc import Sequence
from dataclasses import replace

from smlocal.contract.s3_uri import bucket_name
from smlocal.contract.sharding import Shard
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The objects one channel selects from one source, in listing order (UTF-8 byte order of their keys).

    `paths[i]` is where object i lies below the channel directory. Its key is `key_base + paths[i]` (or `keys[i]`), its
    URI `bucket_uri + key`, and its file here `root`/`paths[i]` (or what `file(i)` says). Sequences of plain
    strings, not one object per file: a channel may have a million, which take 220 MB with their ETags.
    """

    root: str
    """Absolute local folder that `paths` are relative to; empty for objects that are in S3."""
    bucket_uri: str
    """`s3://bucket/` for a location in S3, mapped or not; `file:///` for a plain local path."""
    prefix: str
    """The bare key prefix: line 1 of the channel's manifest."""
    key_base: str
    """What turns a path into a key: the prefix up to and with its last `/`."""
    paths: Sequence[str]
    total_bytes: int | None
    """None when the listing is so long that sizes were not asked for."""
    whole_tree: bool
    """True when `paths` is everything below `root`, so that `root` itself can be the lower layer of an overlay."""
    directories: tuple[str, ...] = ()
    """Empty directories below `root` (an upload would drop them, an overlay shows them)."""
    copy_reasons: tuple[str, ...] = ()
    """Why the tree cannot be shown in place (a link that leads out of it, a mount inside it, …), one sentence each."""
    skipped: tuple[str, ...] = ()
    """What an upload would not carry: sockets, FIFOs, devices, dangling links, with the reason."""
    unlike_service_modes: int = 0
    """How many of the files looked at do not have the service's mode 0644."""
    keys: Sequence[str] = ()
    """The whole key of each object, where it is not always `key_base` and the path."""
    sizes: Sequence[int] = ()
    """Of each object in S3; empty when only asking for each would tell."""
    etags: Sequence[str] = ()
    """Of each object in S3, as `sizes`."""
    failure: str | None = None
    """Why the service would fail to download this, in its words; the job ends with it before a container starts.

    What comes after `ClientError: Data download failed:`. Nothing is listed then, so that nothing can be delivered.
    """
    root_key: str | None = None
    """What a key loses to become a file's path below `root`, where that is not `key_base`."""

    @property
    def remote(self) -> bool:
        """True for objects in S3."""
        return not self.root

    @property
    def bucket(self) -> str:
        """The bucket's bare name; empty for a plain local path."""
        return bucket_name(self.bucket_uri)

    def key(self, index: int) -> str:
        """The whole key of object `index`."""
        return self.keys[index] if self.keys else f"{self.key_base}{self.paths[index]}"

    def uri(self, path: str) -> str:
        """Full URI of the object at `path`; `uri_at` is the one for loops."""
        key = self.keys[self.paths.index(path)] if self.keys else f"{self.key_base}{path}"
        return f"{self.bucket_uri}{key}"

    def uri_at(self, index: int) -> str:
        """Full URI of object `index`."""
        return f"{self.bucket_uri}{self.key(index)}"

    def file(self, index: int) -> str:
        """Where object `index` lies on this machine."""
        if self.root_key is None:
            return f"{self.root}/{self.paths[index]}"
        return f"{self.root}/{self.key(index)[len(self.root_key) :]}"

    def failed(self, words: str) -> "Listing":
        """The listing of a channel whose download fails, with nothing in it that anybody could put in place."""
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
        """The part of it that one host gets of `ShardedByS3Key`."""
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
