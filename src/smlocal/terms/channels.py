"""How data reaches a container: as a folder, or by FIFOs."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.listing import WHOLE, Listing, Shard
from smlocal.terms.rights import EVERYTHING, Rights

Staging = Literal["overlay", "copy", "bind", "fuse", "send"]
"""`bind`: mounted read-only or as it is; `fuse`: objects streamed from S3; `send`: sent into a volume of an engine that
does not see the folder."""


class Means(StrEnum):
    """How the container gets the bytes."""

    OVERLAY = "overlay"
    """Mounted from where they are, copy-on-write."""
    REFLINK = "reflink"
    """Copied as reflinks, which share the data."""
    COPY = "copy"
    BIND = "bind"
    """Mounted from where they are, read-only unless it is a file system."""
    SENT = "sent"
    """Sent into a volume of an engine that does not see the folder."""
    FUSE = "fuse"
    """Fetched from S3 when they are read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TreePlan:
    """A folder that the container sees; the user's own files do not change."""

    name: str
    uri: str
    """As written in the request."""
    target: str
    listing: Listing
    """The part that this host gets."""
    staging: Staging
    reason: str | None
    """Why it is not staged in the best way; None if it is."""
    mode: str = "File"
    """`File`, `FastFile`, `FileSystem` for EFS and FSx, or `Unpacked` for a folder that the job has made itself."""
    writable: bool = True
    """False for FastFile and for file systems with access mode `ro`."""

    @property
    def as_it_is(self) -> bool:
        """True if the folder is mounted, and nothing is copied."""
        return self.mode in {"FileSystem", "Unpacked"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PipePlan:
    """A channel that one host reads from FIFOs, one for each epoch."""

    name: str
    uri: str
    """As written in the request."""
    target: str
    """The path of the FIFO of epoch 0, without `_0`."""
    listing: Listing
    """The objects of all hosts; for an augmented manifest, the manifest."""
    shard: Shard = WHOLE
    record_io: bool = False
    gzip: bool = False
    seed: int | None = None
    """The seed of the shuffle; None if the objects are not shuffled."""
    attributes: tuple[str, ...] = ()
    """The attributes of an augmented manifest that are sent; empty for other sources."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders, for the URIs in an augmented manifest."""
    rights: Rights = EVERYTHING
    """For the paths that an augmented manifest names."""
    lines: int | None = None
    """The lines of an augmented manifest that are sent, from the first one; None for all."""
    names_files: bool = True
    """Whether an augmented manifest may name files of this machine; one in S3 never may."""
