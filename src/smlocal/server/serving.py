"""What all calls to one server share."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from socket import socket
from typing import Any

from smlocal.contract.rights import Rights
from smlocal.platforms.sagemaker.contract.identity import DEFAULT_ACCOUNT, region
from smlocal.server.objects.bucket_folder import remove_unfinished
from smlocal.server.objects.container_port import ContainerPort
from smlocal.server.starting import Starting
from smlocal.server.status_watch import StatusWatch
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store
from smlocal.submission.scheduler import InstanceLimit

CODE = "code"
"""The folder in the home with the code that clients have uploaded for their jobs."""


@dataclass(frozen=True, kw_only=True)
class ClientRights:
    """What clients may ask for beyond running containers."""

    allowed_paths: tuple[str, ...] = ()
    """Folders of this machine that jobs may name; absolute."""
    allowed_buckets: tuple[str, ...] | None = ()
    """Buckets of S3 that jobs may use with the owner's AWS credentials; None for all: every client has the key."""
    local_members: bool = False
    """True if requests may have every member of `Local`, also those that share credentials."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the owner of a server chooses."""

    buckets: str | None = None
    """The folder with a folder for each bucket; None for one in the home."""
    limit: InstanceLimit | None = None
    hosts: frozenset[str] = frozenset()
    """Names to answer to, beside those of this machine."""
    rights: ClientRights = field(default_factory=ClientRights)
    local: Mapping[str, Any] = field(default_factory=dict)
    """Members of `Local` for jobs that do not set them: clients of the service know nothing of this machine."""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """One server. Threads share it."""

    store: Store
    starting: Starting
    status_watch: StatusWatch
    container_port: ContainerPort
    """S3 for containers."""
    buckets: str
    account: str
    region: str
    """For calls that are not signed."""
    address: str
    """As clients reach it: `http://127.0.0.1:4597`."""
    log: Callable[[str], None]
    """Called with what the owner of the server should know; never with what clients send."""
    submitted: Callable[[str], None]
    """Called with the name of each job that a client has started."""
    options: Options

    @property
    def home(self) -> str:
        """The home of its jobs."""
        return self.store.home

    def job_rights(self) -> Rights:
        """What a job of a client may use of this machine: what the owner allows, and what this server keeps for it."""
        kept = (self.buckets, self.artifacts, os.path.join(self.home, CODE))
        rights = self.options.rights
        return Rights(folders=(*rights.allowed_paths, *kept), buckets=rights.allowed_buckets)

    @property
    def artifacts(self) -> str:
        """Where artifacts go whose bucket has no folder."""
        return os.path.join(self.store.home, "artifacts")


@contextmanager
def open_serving(
    listener: socket | None,
    *,
    log: Callable[[str], None],
    submitted: Callable[[str], None] = lambda _: None,
    options: Options | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Serving]:
    """Open the store of the home for a server on this port; without one, it is reached under AWS's names."""
    chosen = options or Options()
    its_region = region(stated=None, environment=environment, profile=None, image=None)
    home = home_directory()
    buckets = chosen.buckets or os.path.join(home, "buckets")
    remove_unfinished(buckets)
    container_port = ContainerPort(home, log=log)
    with (
        Store.open(home) as store,
        Starting(store, limit=chosen.limit, log=log) as starting,
        StatusWatch(store) as status_watch,
        ExitStack() as stack,
    ):
        stack.callback(container_port.close)
        yield Serving(
            store=store,
            starting=starting,
            status_watch=status_watch,
            container_port=container_port,
            buckets=buckets,
            account=DEFAULT_ACCOUNT,
            region=its_region,
            address=f"https://s3.{its_region}.amazonaws.com" if listener is None else _address(listener),
            log=log,
            submitted=submitted,
            options=chosen,
        )


def _address(listener: socket) -> str:
    host, port = listener.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}:{port}"
