"""What brings data to the containers of one attempt and has to be ended with it: downloads, mounts and feeders."""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from smlocal.channels.interface import Check, Copying, Means, StagedChannel, no_check, unbroken
from smlocal.contract import paths
from smlocal.contract.listing import Listing
from smlocal.engine.interface import Mount
from smlocal.errors import MachineNotReadyError, StagingError
from smlocal.job.reporter import Reporter
from smlocal.planning.document import host_directory
from smlocal.planning.model import HostPlan, JobPlan, TreePlan
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.channels.fastfile.mount import FuseMount
    from smlocal.channels.fastfile.unread import Unread
    from smlocal.channels.pipe.feeder import PipeFeeder
    from smlocal.sources.s3.client import S3Client

_MOST_AHEAD = 48 << 20
_ALL_AHEAD = 96 << 20
"""Bytes of S3 that are read ahead, by one channel and by all of the job."""


@dataclass(kw_only=True, slots=True)
class Delivery:
    """The data of one attempt on its way. Nothing is opened, nor imported, before a channel needs it."""

    plan: JobPlan
    home: str
    reporter: Reporter
    broken: Callable[[str, str], None]
    """Told the FailureReason, and what really happened, when data can no longer be brought."""
    check: Check = no_check
    """Called while progress is reported: breaks off what nobody wants any more."""
    checkpoints_are_here: bool = False
    """True once what S3 has of them is on this machine."""
    _client: "S3Client | None" = None
    _not_checked: dict[str, str] = field(default_factory=dict)
    """The first object for each kind of checksum that could not be compared."""
    _local: dict[int, Listing] = field(default_factory=dict)
    """What has been downloaded, by the identity of the listing: hosts that have all share one."""
    _mounts: dict[int, "tuple[str, FuseMount]"] = field(default_factory=dict)
    """With the channel's name, by the identity of the listing too."""
    _feeders: dict[str, "list[PipeFeeder]"] = field(default_factory=dict)

    def local(self, tree: TreePlan) -> Listing:
        """The objects of a tree as files of this machine; `StagingError` when S3 does not give them."""
        listing = tree.listing
        if not listing.remote:
            return listing
        if id(listing) not in self._local:
            from smlocal.channels.cache.folder import Cache
            from smlocal.channels.download_channel import bring

            cache = Cache(home=self.home, limit=self.plan.cache_bytes) if self.plan.cache_bytes else None
            staged = f"{self.plan.job_directory}/staged"
            self._local[id(listing)] = bring(
                listing,
                store=self.store,
                endpoint=self.store().endpoint_url,
                cache=cache,
                directory=f"{staged}/downloads",
                marker_directory=f"{staged}/cache",
                progress=lambda progress: self.working(progress.sentence(tree.name)),
                warn=self.reporter.warning,
            )
        return self._local[id(listing)]

    def working(self, text: str) -> None:
        """Report how far something slow is."""
        self.check()
        self.reporter.working(text)

    def streamed(self, tree: TreePlan) -> StagedChannel:
        """A file system that fetches the objects as they are read."""
        _, mounted = self._mounts.get(id(tree.listing), (tree.name, None))
        if mounted is None:
            from smlocal.channels.fastfile.mount import FuseMount

            mounted = FuseMount.start(
                tree.listing,
                region=self.plan.region,
                directory=f"{self.plan.job_directory}/staged/fuse-{len(self._mounts)}",
                died=lambda why: self._broke(f'the process that streams channel "{tree.name}" ended: {why}'),
            )
            self._mounts[id(tree.listing)] = tree.name, mounted
        mount = Mount(source=mounted.mount_point, target=tree.target, read_only=True)
        return StagedChannel(mounts=(mount,), means=Means.FUSE, bytes_copied=0)

    def open_pipes(self, host: HostPlan, copying: Copying = unbroken) -> None:
        """Make the first FIFO of every Pipe channel of a host, whose folders exist."""
        if not host.pipes:
            return
        from smlocal.channels.pipe.feeder import PipeFeeder

        feeders = self._feeders.setdefault(host.host.name, [])
        channels = sum(len(each.pipes) for each in self.plan.hosts)
        for pipe in host.pipes:
            feeder = PipeFeeder(
                pipe,
                directory=host_directory(self.plan, host) + paths.DATA.removeprefix(paths.ROOT),
                spool=f"{self.plan.job_directory}/staged/{host.host.name}/pipe-{pipe.name}",
                store=self.store,
                broken=self.broken,
                budget=min(_MOST_AHEAD, _ALL_AHEAD // channels),
            )
            feeders.append(feeder)
            with copying():
                feeder.prepare()

    def start_pipes(self, host: str) -> None:
        """Feed whoever opens a FIFO of this host."""
        for feeder in self._feeders.get(host, ()):
            feeder.start()

    def unread(self) -> list[tuple[str, "Unread"]]:
        """The channel and the object of every read of S3 that failed in a container, before `close`."""
        return [(channel, each) for channel, mount in self._mounts.values() for each in mount.unread()]

    def not_checked(self) -> list[str]:
        """What to tell the user of objects whose checksums could not be compared, before `close`."""
        found = dict(self._not_checked)
        for _, mount in self._mounts.values():
            for each in mount.not_checked():
                found.setdefault(each.why, each.uri)
        return [
            f"{uri} was not checked for damage, nor was any other object with only a {kind.upper()} checksum: this "
            "needs the package awscrt. Install it:  pip install 'smlocal[crt]'"
            for kind, uri in found.items()
        ]

    def close(self) -> None:
        """End everything; to call it twice does no harm."""
        for feeders in self._feeders.values():
            for feeder in feeders:
                feeder.stop()
        for _, mount in self._mounts.values():
            mount.stop()
        self._feeders.clear()
        self._mounts.clear()

    def _note_unchecked(self, kind: str, uri: str) -> None:
        self._not_checked.setdefault(kind, uri)

    def _broke(self, explanation: str) -> None:
        from smlocal.contract.outcome.failure_reason import INTERNAL_ERROR

        self.broken(INTERNAL_ERROR, explanation)

    def store(self) -> "S3Client":
        """S3, opened when it is first needed; `StagingError` when that cannot be."""
        if self._client is None:
            from smlocal.sources.s3.client import open_store

            try:
                self._client = open_store(self.plan.region, not_checked=self._note_unchecked)
            except MachineNotReadyError as error:  # they were there when the objects were listed
                raise StagingError(f"ClientError: Data download failed:{error.sentence}") from error
        return self._client
