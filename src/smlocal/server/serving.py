"""What all calls to one server share."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from socket import socket

from smlocal.contract.identity import DEFAULT_ACCOUNT, region
from smlocal.store.home import home_directory
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


@contextmanager
def open_serving(
    listener: socket, *, log: Callable[[str], None], buckets: str | None = None, rights: Rights | None = None
) -> Iterator[Serving]:
    """Open the store of the home for a server on this port."""
    host, port = listener.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    with Store.open(home_directory()) as store:
        yield Serving(
            store=store,
            buckets=buckets or os.path.join(store.home, "buckets"),
            account=DEFAULT_ACCOUNT,
            region=region(stated=None, environment=os.environ, profile=None, image=None),
            address=f"http://{named}:{port}",
            log=log,
            rights=rights or Rights(),
        )
