"""One host of a running job: its container from staging to the last line of its log."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from threading import Thread

from smlocal.artifacts.handback import take_over
from smlocal.channels.interface import Copying, StagedChannel, unbroken
from smlocal.channels.overlay import is_overlay_refusal
from smlocal.contract import paths
from smlocal.engine.interface import ContainerSpec, Engine, Mount, Output, Resource, ResourceKind
from smlocal.errors import EngineError, EngineLostError, SmlocalError
from smlocal.job.decide.events import Event, Events, HostExited, HostLost, ThreadDied
from smlocal.job.host.delivery import Delivery
from smlocal.job.host.staging import build_tree, mounts, stage_trees, trees
from smlocal.job.labels import GPUS_LABEL, labels
from smlocal.job.logs.log_file import LogFile, rewrite_log
from smlocal.job.logs.log_paths import log_path
from smlocal.job.reporter import Reporter
from smlocal.job.usage.path import series_path
from smlocal.job.usage.watch import UsageWatch
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.threads import watched_thread

HOST_LABEL = "smlocal.host"
_LOG_TAIL = 16384
_DRAIN_SECONDS = 10.0
"""After the container's end its streams may be silent for so long: a grandchild may hold them open for ever."""


@dataclass(kw_only=True, slots=True)
class HostRun:
    """What the supervisor holds of one host."""

    plan: JobPlan
    host: HostPlan
    engine: Engine
    events: Events
    reporter: Reporter
    delivery: Delivery
    given: Mapping[str, str] = field(default_factory=dict)
    """Variables that are known only now; those of the plan come before them."""
    wrote: Callable[[], None] = lambda: None
    """Hears of it when something has come to the log."""
    container: str = ""
    staged: tuple[StagedChannel, ...] = ()
    ended: bool = False
    """True once the container has ended, though what it wrote may still be on its way."""
    log_cut: str | None = None
    """Why the log is not complete, where it is not."""
    logged_before: int = 0
    """Bytes of the log that earlier attempts wrote."""
    fell_back: str | None = None
    """Why the overlays of the plan had to be replaced by copies."""
    _showing: bool = False
    """True while what was read is being handed on."""
    _pieces: int = 0
    """How many have been read."""
    _mounts: tuple[Mount, ...] = ()
    _threads: list[Thread] = field(default_factory=list)
    _output: Output | None = None
    _abandoned: bool = False
    """True once nobody wants to hear of this host any more."""
    _usage: UsageWatch = field(default_factory=UsageWatch)

    @property
    def name(self) -> str:
        """`algo-1`."""
        return self.host.host.name

    @property
    def log(self) -> str:
        """Where the raw bytes of both streams are kept."""
        return log_path(self.plan.job_directory, self.name)

    @property
    def labels(self) -> dict[str, str]:
        """What everything of this host carries on the engine."""
        return {**labels(self.plan), HOST_LABEL: self.name}

    def prepare(self, copying: Copying = unbroken) -> None:
        """Build the tree, bring the data and make the container; `copying` may be broken off. FIFOs come after it."""
        if self.host.limits.disk is not None:
            from smlocal.job.host.volume import make_volume  # few jobs have one

            make_volume(self.plan, self.host)
        self._mounts = build_tree(self.plan, self.host, self.delivery, copying)
        self.staged = stage_trees(self.plan, self.host, self.engine, self.delivery, self.labels, copying=copying)
        self._create()
        if os.geteuid() != 0 and self.plan.engine.local:
            self._give_to_root()

    def start(self) -> None:
        """Start PID 1 and watch it; an engine that cannot make overlays here gets copies instead."""
        self.delivery.start_pipes(self.name)
        try:
            output = self._start()
        except EngineError as error:
            if not is_overlay_refusal(error):
                raise
            output = self._start_with_copies(error)
        try:
            self._watch(output)
        except BaseException:
            output.close()  # a container whose output is held back cannot even be removed
            raise

    def take_up(self, container: str, *, running: bool) -> None:
        """Go on with a container that an earlier supervisor started."""
        self.container = container
        self._mounts = mounts(self.plan, self.host)
        if running:
            self._threads = [self._waiter(None)]

    def watch_on(self) -> None:
        """Wait for the end of a container that was taken up, if it still runs."""
        if self._threads:
            self._watch_usage(started_before=True)
        self.wrote()
        for thread in self._threads:
            thread.start()

    def complete_log(self) -> None:
        """Replace what an earlier supervisor read of this attempt's log by all that the engine kept of it."""
        with suppress(EngineError, OSError):
            rewrite_log(self.log, self.logged_before, self.engine.logs(self.container))

    def join(self) -> None:
        """Wait for the threads that watch; they end soon after the container."""
        for thread in self._threads:
            thread.join(_DRAIN_SECONDS)

    def abandon(self) -> None:
        """Hear no more of a host whose end nobody can tell. What waits for it is left to wait; the log ends here."""
        self._abandoned = True
        if self._output is not None:
            self._output.close()
            self._threads[0].join(_DRAIN_SECONDS)

    def log_tail(self) -> str:
        """The last words of the log, for finding out why the host ended."""
        try:
            with open(self.log, "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_TAIL))
                return log.read().decode("utf-8", errors="replace")
        except OSError:
            return ""

    def _create(self) -> None:
        host, plan, network = self.host, self.plan, self.plan.network
        self.container = self.engine.create(
            ContainerSpec(
                name=host.container,
                image=plan.image,
                labels={**self.labels, **self._gpu_label},
                entrypoint=plan.entrypoint,
                command=plan.command,
                environment={**self.given, **host.environment},
                hostname=host.hostname,
                mounts=(*self._mounts, *_mounts_of(self.staged)),
                extra_hosts={**(network.addresses if network is not None else {}), **host.extra_hosts},
                network=network.name if network is not None else None,
                address=network.addresses[self.name] if network is not None else "",
                # Nobody: an engine's own DNS would ask the whole world, some even for an isolated network.
                name_servers=("127.0.0.1",) if network is not None and network.isolated else (),
                aliases=host.aliases,
                devices=host.devices,
                device_files=host.neuron,
                limits=host.limits,
            )
        )

    @property
    def _gpu_label(self) -> dict[str, str]:
        devices = self.host.devices
        return {} if devices is None else {GPUS_LABEL: ",".join(devices.ids)}

    @property
    def binds(self) -> tuple[tuple[str, str], ...]:
        """The folders of ours that the container may write in: (here, there)."""
        mounts = (*self._mounts, *_mounts_of(self.staged))
        theirs = {there for _, there in self.file_systems}
        return tuple(
            (mount.source, mount.target)
            for mount in mounts
            if not mount.volume and not mount.read_only and mount.target not in theirs
        )

    @property
    def file_systems(self) -> tuple[tuple[str, str], ...]:
        """The folders of the user that the container may write in: (here, there)."""
        trees = (tree for tree in self.host.channels if tree.mode == "FileSystem" and tree.writable)
        return tuple((tree.listing.root, tree.target) for tree in trees)

    def _give_to_root(self) -> None:
        """On the service everything below `/opt/ml` is root's; only the engine can make it so for us."""
        kept = self._not_roots()
        entries: list[tuple[str, int, bytes | None]] = [(p, 0o755, None) for p in self._folders() if p not in kept]
        entries += [(path, 0o644, content) for path, content in self.host.files.items()]
        take_over(self.engine, self.container, "/", entries)

    def _not_roots(self) -> set[str]:
        """Where FIFOs will be made the folder stays ours; what is shown as it is cannot or must not change hands."""
        shown = {mount.target for mount in _mounts_of(self.staged) if mount.read_only}
        return shown | {there for _, there in self.file_systems} | ({paths.DATA} if self.host.pipes else set())

    def _folders(self) -> list[str]:
        """Every folder that we made for the container, parents first, as paths in the container."""
        return sorted(there + folder.removeprefix(here) for here, there in self.binds for folder, _, _ in os.walk(here))

    def _start_with_copies(self, refusal: EngineError) -> Output:
        self.fell_back = refusal.sentence
        why, _, _ = self.fell_back.partition("\n")
        self.reporter.warning(f"the engine cannot mount data copy-on-write; copying it ({why})")
        self.engine.remove(Resource(kind=ResourceKind.CONTAINER, id=self.container))
        self.staged = stage_trees(self.plan, self.host, self.engine, self.delivery, self.labels, staging="copy")
        self._create()
        return self._start()

    def _start(self) -> Output:
        """Attach and start; an engine that makes the container ready for the one may refuse it there already."""
        output = self.engine.attach(self.container)
        try:
            self.engine.start(self.container)
        except BaseException:
            output.close()
            raise
        return output

    def _watch(self, output: Output) -> None:
        self._output = output
        reader = watched_thread(partial(self._read, output), name=f"{self.name}-output", died=self._died)
        waiter = self._waiter(reader)
        self._threads = [reader, waiter]
        reader.start()
        waiter.start()
        self._watch_usage()

    def _waiter(self, reader: Thread | None) -> Thread:
        """The thread that waits for the container's end, whatever ends the waiting."""
        died = partial(self._died, host=self.name)
        return watched_thread(partial(self._wait, reader), name=f"{self.name}-wait", died=died)

    def _died(self, thread: str, error: BaseException, host: str | None = None) -> None:
        self._tell(ThreadDied(thread=thread, error=error, host=host))

    def _tell(self, event: Event) -> None:
        if not self._abandoned:
            self.events.put(event)

    def _watch_usage(self, *, started_before: bool = False) -> None:
        path = series_path(self.plan.job_directory, self.name)
        folders = [
            (mount.source, mount.target) for mount in self._mounts if mount.target != paths.INPUT and not mount.volume
        ]
        folders += self._written_into()
        self._usage.begin(
            self.engine,
            self.container,
            path=path,
            gpus=self.host.devices.ids if self.host.devices is not None and self.plan.engine.local else None,
            folders=folders,
            started_before=started_before,
        )

    def _written_into(self) -> list[tuple[str, str]]:
        """Where lies what the container writes into its channels: (here, there); nowhere known if it was taken up."""
        if not self.staged:
            return [("", tree.target) for tree in trees(self.plan, self.host) if tree.staging == "overlay"]
        return [(each.upper, each.mounts[0].target) for each in self.staged if each.upper is not None]

    def _read(self, output: Output) -> None:
        """Keep and show what the container writes; a broken stream is not the end of the job, the wait decides."""
        log = LogFile(self.log, self.wrote)
        try:
            for written in output:
                if written.lines:
                    log.write(written.lines)
                self._pieces += 1
                self._showing = True
                self.reporter.output(self.name, written)
                self._showing = False
        except EngineLostError as error:
            self.reporter.warning(f"{self.name}: the log stream was interrupted ({error.sentence})")
        finally:
            self.log_cut = log.close()
        if self.log_cut is not None:
            self.reporter.warning(f"{self.name}: the log is not complete: {self.log_cut}")

    def _drain(self, reader: Thread) -> None:
        """Whoever reads slowly (a pager), or has much to read, gets the rest all the same, and so does the log."""
        seen = -1
        while reader.is_alive() and (self._showing or seen != self._pieces):
            seen = self._pieces
            reader.join(_DRAIN_SECONDS)
        if reader.is_alive():
            self.reporter.warning(
                f"{self.name}: its output streams are still open after its end; later output is not kept"
            )

    def _wait(self, reader: Thread | None) -> None:
        try:
            try:
                exit_code = self.engine.wait(self.container)
            finally:
                self._usage.close()
            self.ended = True
            if reader is not None:
                self._drain(reader)
            oom_killed = exit_code != 0 and self.engine.state(self.container).oom_killed
        except SmlocalError as error:
            self._tell(HostLost(host=self.name, why=error.sentence))
        else:
            self._tell(HostExited(host=self.name, exit_code=exit_code, oom_killed=oom_killed))
        finally:
            if self._output is not None:
                self._output.close()


def _mounts_of(staged: Sequence[StagedChannel]) -> tuple[Mount, ...]:
    return tuple(mount for channel in staged for mount in channel.mounts)
