"""The inputs of a job's hosts: channels as folders and as FIFOs, code, and how they get into the containers."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.listing import WHOLE, Listing, Shard
from smlocal.terms.rights import EVERYTHING, Rights

Staging = Literal["overlay", "copy", "bind", "fuse", "send"]
"""`bind`: mounted read-only or as it is; `fuse`: objects streamed from S3; `send`: sent into a volume of an engine that
does not see the folder."""

_REASONS_SHOWN = 2
_NO_RENAMES = "with a rootless overlay its folders cannot be renamed; Local.Staging overlay allows that"


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFacts:
    """The inputs of a job, listed once."""

    listings: Mapping[str, Listing]
    """By channel name."""
    file_systems: Mapping[str, Listing] = field(default_factory=dict)
    """The folder used instead of a file system, by channel name; its files are not listed."""
    code: Listing | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders."""
    only_s3: frozenset[str] = frozenset()
    """Names of channels whose manifests may name no files of this machine."""
    no_fuse: str | None = None
    """Why objects in S3 cannot be streamed through FUSE; None if they can."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class HostInputs:
    """The inputs of one host."""

    trees: tuple[TreePlan, ...] = ()
    """The channels that are folders."""
    pipes: tuple[PipePlan, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class InputsPlan:
    """The inputs of all hosts of a job, beside their channels."""

    code: TreePlan | None = None
    cache_bytes: int = 0
    """The size of the download cache; 0: no cache."""


def delivered_bytes(trees: tuple[TreePlan, ...]) -> int:
    """The bytes that channels take of the volume on the service, where File mode data is downloaded to it."""
    return sum(tree.listing.total_bytes or 0 for tree in trees if tree.mode == "File")


def choose_staging(
    listing: Listing,
    requested: Staging | None,
    *,
    fast_file: bool = False,
    no_fuse: str | None = None,
    shared: bool = True,
    rootless: bool = False,
) -> tuple[Staging, str | None]:
    """Return the staging, and why it is not the default (None if it is, or if the user requested it).

    A selection that is not a whole folder is first collected in a folder of its own, as regular files, so links and
    mounts around it do not matter. `shared` is False for an engine that does not see this machine's folders. In the
    overlays of a `rootless` engine folders cannot be renamed, so they are used only on request.
    """
    if not shared:
        return "send", no_fuse if fast_file and listing.remote else None
    if fast_file:
        if listing.remote:
            return ("fuse", None) if no_fuse is None else ("bind", no_fuse)
        return "bind", None
    if requested != "copy" and listing.whole_tree and listing.copy_reasons:
        shown = "; ".join(listing.copy_reasons[:_REASONS_SHOWN])
        more = len(listing.copy_reasons) - _REASONS_SHOWN
        return "copy", f"{shown}; and {more} more" if more > 0 else shown
    if rootless and requested is None:
        return "copy", _NO_RENAMES
    return requested or "overlay", None
