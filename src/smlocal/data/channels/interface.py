"""The result of preparing a channel, and how long work is interrupted."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Mount

Check = Callable[[], None]
"""Called between pieces of long work; raises if it was cancelled."""
Copying = Callable[[], AbstractContextManager[Check]]
"""Entered around such work. In the main thread a signal handler may also raise inside, at any point."""


def unbroken() -> AbstractContextManager[Check]:
    """For work that cannot be cancelled."""
    return nullcontext(no_check)


def no_check() -> None:
    """Do nothing."""


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
class StagedChannel:
    """A channel that is ready to be mounted in one container."""

    mounts: tuple[Mount, ...]
    means: Means
    bytes_copied: int
    """Without links and reflinks."""
    upper: str | None = None
    """The folder of an overlay's changes, on the engine's machine; often only root may read it."""
