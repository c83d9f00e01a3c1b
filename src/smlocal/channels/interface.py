"""What putting a channel in place results in."""

from dataclasses import dataclass
from enum import StrEnum

from smlocal.engine.interface import Mount


class Means(StrEnum):
    """How the bytes got there."""

    OVERLAY = "overlay"
    """Shown copy-on-write where they lie."""
    REFLINK = "reflink"
    """Copied by the file system without moving a byte."""
    COPY = "copy"
    BIND = "bind"
    """Shown as it is, read-only unless it is a file system."""
    SENT = "sent"
    """Sent to an engine of another machine, into a volume there."""
    FUSE = "fuse"
    """Fetched from S3 as it is read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedChannel:
    """A channel that is ready for one container."""

    mounts: tuple[Mount, ...]
    means: Means
    bytes_copied: int
    """Moved for real; links and reflinks move none."""
    upper: str | None = None
    """Of an overlay: where the engine's machine keeps what the container changes. Often only root may look."""
