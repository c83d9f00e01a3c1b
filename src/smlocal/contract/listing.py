"""What a source holds, as the rest of the house sees it: names in the service's order, never the bytes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The objects one channel selects from one source, in listing order (UTF-8 byte order of their keys).

    `paths[i]` is where object i lies below the channel directory. Its file here is `root`/`paths[i]`, its key is
    `key_base + paths[i]`, and its URI `bucket_uri + key`. Plain strings, not one object per file: a channel may hold
    hundreds of thousands.
    """

    root: str
    """Absolute local folder that `paths` are relative to."""
    bucket_uri: str
    """`s3://bucket/` for a mapped location, `file:///` for a plain local path."""
    prefix: str
    """The bare key prefix: line 1 of the channel's manifest."""
    key_base: str
    """What turns a path into a key: the prefix up to and with its last `/`."""
    paths: tuple[str, ...]
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

    def uri(self, path: str) -> str:
        """Full URI of the object at `path`."""
        return f"{self.bucket_uri}{self.key_base}{path}"
