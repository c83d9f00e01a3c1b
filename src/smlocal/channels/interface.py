"""What putting a channel in place results in."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum

from smlocal.engine.interface import Mount
from smlocal.quick_dataclass import dataclass

Check = Callable[[], None]
"""Called between pieces of work that may take long: raises when nobody wants it any more."""
Copying = Callable[[], AbstractContextManager[Check]]
"""Entered around such work. In the main thread a signal may also break off what is inside, at any point."""


def unbroken() -> AbstractContextManager[Check]:
    """For work that is always finished."""
    return nullcontext(no_check)


def no_check() -> None:
    """Go on."""


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
