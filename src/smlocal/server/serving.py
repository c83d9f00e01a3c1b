"""What all calls to one server share."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from smlocal.store.jobs import Store


@dataclass(frozen=True, kw_only=True)
class Rights:
    """What clients may ask for beyond running containers."""

    allowed_paths: tuple[str, ...] = ()
    """Folders of this machine that jobs may name; absolute and without links."""
    local_members: bool = False
    """True if requests may have every member of `Local`, also those that run commands or share credentials."""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """One server. Threads share it."""

    store: Store
    buckets: str
    """The folder with a folder for each bucket."""
    account: str
    region: str
    """For calls that are not signed."""
    address: str
    """As clients reach it: `http://127.0.0.1:4597`."""
    log: Callable[[str], None]
    """Called with what the owner of the server should know; never with what clients send."""
    rights: Rights = field(default_factory=Rights)

    @property
    def home(self) -> str:
        """The home of its jobs."""
        return self.store.home

    def bucket(self, name: str) -> str:
        """The folder of a bucket."""
        return os.path.join(self.buckets, name)
