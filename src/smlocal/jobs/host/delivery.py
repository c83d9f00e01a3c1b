"""How data gets to the containers of one attempt: downloads, mounted streams (FastFile), and feeders (Pipe)."""

import os
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, Copying, no_check, unbroken
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Mount
from smlocal.errors import MachineNotReadyError, StagingError
from smlocal.jobs.planning.model import HostPlan, JobPlan, host_directory
from smlocal.jobs.view import Reporter
from smlocal.terms.channels import Means, TreePlan
from smlocal.terms.listing import Listing
from smlocal.terms.statuses import INTERNAL_ERROR, Failure

if TYPE_CHECKING:
    from smlocal.data.channels.cache.folder import Cache
    from smlocal.data.channels.copy import StagedChannel
    from smlocal.data.channels.download_channel import download_channel
    from smlocal.data.channels.fastfile.mount import FuseMount
    from smlocal.data.channels.fastfile.tree import Unread
    from smlocal.data.channels.pipe.feeder import PipeFeeder
    from smlocal.data.sources.s3.client import S3Client
else:
    download_channel = at_use("smlocal.data.channels.download_channel", "download_channel")
    Cache = at_use("smlocal.data.channels.cache.folder", "Cache")
    StagedChannel = at_use("smlocal.data.channels.copy", "StagedChannel")

_READ_AHEAD = 48 << 20
_READ_AHEAD_OF_ALL = 96 << 20
"""Bytes that are read ahead from S3, by one Pipe channel and by all of the job."""


@dataclass(kw_only=True, slots=True)
class Delivery:
    """The data of one attempt. Nothing is opened or imported before a channel needs it."""

    plan: JobPlan
    home: str
    reporter: Reporter
    on_failure: Callable[[Failure, str], None]
    """Called with why the job fails and an explanation when a running container gets no more data."""
    check: Check = no_check
    """Called when progress is reported, and while a download is waited for; raises if there is a request."""
    checkpoints_downloaded: bool = False
    _client: "S3Client | None" = None
    _not_checked: dict[str, str] = field(default_factory=dict)
    """The first object for each kind of checksum that could not be compared."""
    _downloaded: dict[int, Listing] = field(default_factory=dict)
    """By the identity of the original listing: hosts with the same data share it."""
    _mounts: dict[int, "tuple[str, FuseMount]"] = field(default_factory=dict)
    """With the channel's name, by the identity of the listing."""
    _feeders: dict[str, "list[PipeFeeder]"] = field(default_factory=dict)

    def download(self, tree: TreePlan) -> Listing:
        """Download the objects of a tree, once; `StagingError` if that fails. Returns the local files."""
        listing = tree.listing
        if not listing.remote:
            return listing
        if id(listing) not in self._downloaded:
            cache = Cache(home=self.home, limit=self.plan.inputs.cache_bytes) if self.plan.inputs.cache_bytes else None
            staged = f"{self.plan.job_directory}/staged"
            self._downloaded[id(listing)] = download_channel(
                listing,
                store=self.store,
                endpoint=self.store().endpoint_url,
                cache=cache,
                directory=f"{staged}/downloads",
                marker_directory=f"{staged}/cache",
                progress=lambda progress: self.working(progress.sentence(tree.name)),
                warn=self.reporter.warning,
                check=self.check,
            )
        return self._downloaded[id(listing)]

    def working(self, text: str) -> None:
        """Report the state of something slow."""
        self.check()
        self.reporter.working(text)

    def mount(self, tree: TreePlan) -> StagedChannel:
        """Mount a file system that fetches the objects when they are read, once."""
        _, mounted = self._mounts.get(id(tree.listing), (tree.name, None))
        if mounted is None:
            from smlocal.data.channels.fastfile.mount import FuseMount

            mounted = FuseMount.start(
                tree.listing,
                region=self.plan.identity.region,
                rights=self.plan.rights,
                directory=f"{self.plan.job_directory}/staged/fuse-{len(self._mounts)}",
                died=lambda why: self._stream_died(f'the process that streams channel "{tree.name}" ended: {why}'),
            )
            self._mounts[id(tree.listing)] = tree.name, mounted
        mount = Mount(source=mounted.mount_point, target=tree.target, read_only=True)
        return StagedChannel(mounts=(mount,), means=Means.FUSE, bytes_copied=0)

    def open_pipes(self, host: HostPlan, copying: Copying = unbroken) -> None:
        """Make the first FIFO of every Pipe channel of a host."""
        if not host.inputs.pipes:
            return
        from smlocal.data.channels.pipe.feeder import PipeFeeder

        feeders = self._feeders.setdefault(host.host.name, [])
        channels = sum(len(each.inputs.pipes) for each in self.plan.hosts)
        for pipe in host.inputs.pipes:
            feeder = PipeFeeder(
                pipe,
                directory=host_directory(self.plan, host) + self.plan.folders.below(os.path.dirname(pipe.target)),
                spool=f"{self.plan.job_directory}/staged/{host.host.name}/pipe-{pipe.name}",
                store=self.store,
                broken=self.on_failure,
                budget=min(_READ_AHEAD, _READ_AHEAD_OF_ALL // channels),
                delay=self.plan.faults.fifos_after,
            )
            feeders.append(feeder)
            with copying():
                feeder.prepare()

    def start_pipes(self, host: str) -> None:
        """Feed the readers of this host's FIFOs."""
        for feeder in self._feeders.get(host, ()):
            feeder.start()

    def unread(self) -> list[tuple[str, "Unread"]]:
        """Channel and object of every failed read from S3 in a container; to be called before `close`."""
        return [(channel, each) for channel, mount in self._mounts.values() for each in mount.unread()]

    def not_checked(self) -> list[str]:
        """Hints on objects whose checksums could not be compared; to be called before `close`."""
        objects = dict(self._not_checked)
        for _, mount in self._mounts.values():
            for each in mount.not_checked():
                objects.setdefault(each.why, each.uri)
        if not objects:
            return []

        from smlocal.base.installed import install_command

        return [
            f"{uri} was not checked for damage, nor was any other object with only a {kind.upper()} checksum: this "
            f"needs the package awscrt. Install it:  {install_command('crt')}"
            for kind, uri in objects.items()
        ]

    def close(self) -> None:
        """Stop everything. It may be called again."""
        for feeders in self._feeders.values():
            for feeder in feeders:
                feeder.stop()
        for _, mount in self._mounts.values():
            mount.stop()
        self._feeders.clear()
        self._mounts.clear()

    def _note_not_checked(self, kind: str, uri: str) -> None:
        self._not_checked.setdefault(kind, uri)

    def _stream_died(self, explanation: str) -> None:
        self.on_failure(INTERNAL_ERROR, explanation)

    def store(self) -> "S3Client":
        """The client of S3; `StagingError` if there are no credentials."""
        if self._client is None:
            from smlocal.data.sources.s3.client import open_store

            try:
                self._client = open_store(
                    self.plan.identity.region, rights=self.plan.rights, not_checked=self._note_not_checked
                )
            except MachineNotReadyError as error:
                raise StagingError(f"Data download failed:{error.sentence}") from error
        return self._client
