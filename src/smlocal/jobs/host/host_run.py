"""One host of a running job: its folders and data, its container, its log and its usage."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from threading import Event
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, Copying, unbroken
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.data.artifacts.ownership import give_to_root
from smlocal.engine.facts import HOST_GATEWAY
from smlocal.engine.interface import ContainerSpec, Engine, Mount
from smlocal.errors import EngineError
from smlocal.jobs.container_run import ContainerRun
from smlocal.jobs.containers import HOST_LABEL, container_spec, labels
from smlocal.jobs.decide.events import EventQueue, ThreadDied
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.host.staging import build_tree, file_systems, make_volume, mounts, stage_trees, trees
from smlocal.jobs.logs.log_file import log_path
from smlocal.jobs.planning.aspects.accelerators.plan import GPUS_LABEL
from smlocal.jobs.planning.aspects.data_parallel.plan import RECORDS
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.usage.usage_watch import UsageWatch, series_path
from smlocal.jobs.view import Reporter

if TYPE_CHECKING:
    from smlocal.data.channels.copy import StagedChannel, is_overlay_refusal
else:
    StagedChannel = at_use("smlocal.data.channels.copy", "StagedChannel")
    is_overlay_refusal = at_use("smlocal.data.channels.copy", "is_overlay_refusal")

_ALWAYS = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"


@dataclass(kw_only=True, slots=True)
class HostRun:
    """A host's folders, and its container from staging to the end."""

    plan: JobPlan
    host: HostPlan
    engine: Engine
    events: EventQueue
    reporter: Reporter
    delivery: Delivery
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are not in the plan. Those of the plan override them."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Labels of the container, in addition to those of the host."""
    standard_input: bool = False
    """For a person: standard input stays open."""
    terminal: bool = False
    """For a person: the container has a terminal."""
    container: ContainerRun = field(init=False)
    staged: tuple[StagedChannel, ...] = ()
    logged_before: int = 0
    """Bytes of the log that earlier attempts wrote."""
    fallback_reason: str | None = None
    """Why the overlays of the plan had to be replaced by copies."""
    _mounts: tuple[Mount, ...] = ()
    _running_before: bool = False
    """True if an earlier supervisor started the container, and it was still running when this one looked."""
    _late_names: "LateNames | None" = None
    _usage: UsageWatch = field(default_factory=UsageWatch)

    def __post_init__(self) -> None:
        if self.plan.faults.names_after:
            self._late_names = LateNames(
                self.plan,
                self.host,
                died=lambda thread, error: self.events.put(ThreadDied(thread=thread, error=error)),
            )
        self.container = ContainerRun(
            engine=self.engine,
            name=self.name,
            on_event=self.events.put,
            on_output=lambda written: self.reporter.output(self.name, written),
            on_exit=self._exited,
            on_warning=self.reporter.warning,
            log=self.log,
        )

    @property
    def name(self) -> str:
        """Its name in the job."""
        return self.host.host.name

    @property
    def log(self) -> str:
        """The file with the raw bytes of both streams."""
        return log_path(self.plan.job_directory, self.name)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of everything of this host on the engine."""
        return {**labels(self.plan), HOST_LABEL: self.name}

    def prepare(self, copying: Copying = unbroken) -> None:
        """Make the folders, bring the data and create the container. FIFOs are made later."""
        if self.host.limits.disk is not None:
            make_volume(self.plan, self.host)
        self._mounts = build_tree(self.plan, self.host, self.delivery, copying)
        self.staged = stage_trees(self.plan, self.host, self.engine, self.delivery, self.labels, copying=copying)
        self._create()
        engine = self.plan.engines.first
        if os.geteuid() != 0 and engine.shares_folders and engine.place is None:
            with copying() as check:
                self._give_to_root(check)

    def start(self) -> None:
        """Start PID 1 and watch it."""
        self.start_container(self.container.start)
        self._watch_usage()

    def start_container(self, start: Callable[[], None]) -> None:
        """Call what starts PID 1. If the engine cannot mount overlays here, the data is copied instead."""
        self.delivery.start_pipes(self.name)
        try:
            start()
        except EngineError as error:
            if not is_overlay_refusal(error):
                raise
            self._copy_instead(error)
            start()
        if self._late_names is not None:
            self._late_names.begin()

    def restart(self) -> None:
        """Start a new container with the same name, host name, address, mounts and log. The last one has ended."""
        if not self.staged:  # it was taken over
            self.staged = file_systems(self.plan, self.host)
        self.container = self.container.replaced(self._spec())
        self._running_before = False
        self._usage = UsageWatch()
        self.container.start()
        self._watch_usage()

    def take_over(self, container: str, *, running: bool) -> None:
        """Use a container that an earlier supervisor started."""
        self.container.take_over(container)
        self._mounts = mounts(self.plan, self.host)
        self._running_before = running

    def resume_watching(self, *, read: bool = False) -> None:
        """Wait for the end of a container that was taken over, if it is still running. `read`: its output too."""
        if self._running_before:
            if self._late_names is not None:
                self._late_names.add_peers()
            self._watch_usage()
            self.container.watch_end(read=read)

    def complete_log(self, *, later: bool = False) -> None:
        """Replace this attempt's part of the log, which an earlier supervisor read, by all that the engine has.

        `later`: that is done again, so a request need not wait for it.
        """
        stopped = (lambda: not self.events.empty()) if later else (lambda: False)
        self.container.complete_log(self.logged_before, stopped=stopped)

    @property
    def binds(self) -> tuple[tuple[str, str], ...]:
        """The job's own folders that the container may write to: (here, in the container)."""
        mounts = (*self._mounts, *_mounts_of(self.staged))
        users = {target for _, target in self.file_systems}
        return tuple(
            (mount.source, mount.target)
            for mount in mounts
            if not mount.volume and not mount.read_only and mount.target not in users
        )

    @property
    def file_systems(self) -> tuple[tuple[str, str], ...]:
        """The user's folders that the container may write to: (here, in the container)."""
        trees = (tree for tree in self.host.inputs.trees if tree.mode == "FileSystem" and tree.writable)
        return tuple((tree.listing.root, tree.target) for tree in trees)

    def _create(self) -> None:
        self.container.create(self._spec())

    def _spec(self) -> ContainerSpec:
        host = self.host
        gpus = {} if host.accelerators.gpus is None else {GPUS_LABEL: ",".join(host.accelerators.gpus.ids)}
        spec = container_spec(
            self.plan,
            host,
            labels={**self.labels, **gpus, **self.marks},
            mounts=(*self._mounts, *_mounts_of(self.staged), *self._late_names_mounts()),
            environment=self.environment,
        )
        if self.standard_input:
            spec = replace(spec, standard_input=True, terminal=self.terminal)
        return spec

    def _late_names_mounts(self) -> tuple[Mount, ...]:
        """The file that replaces what the engine makes of `extra_hosts`."""
        return () if self._late_names is None else (self._late_names.mount(),)

    def _exited(self) -> None:
        self._usage.close()
        if self._late_names is not None:
            self._late_names.close()

    def _copy_instead(self, refusal: EngineError) -> None:
        self.fallback_reason = refusal.sentence
        first_line, _, _ = refusal.sentence.partition("\n")
        self.reporter.warning(f"the engine cannot mount data copy-on-write; copying it ({first_line})")
        self.container.remove()
        self.staged = stage_trees(self.plan, self.host, self.engine, self.delivery, self.labels, staging="copy")
        self._create()

    def _give_to_root(self, check: Check) -> None:
        """As on the service, the platform's folders belong to root; only the engine can change the owner."""
        ours = self._not_for_root()
        entries: list[tuple[str, int, bytes | None]] = [(p, 0o755, None) for p in self._folders(check) if p not in ours]
        entries += [(path, 0o644, content) for path, content in self.host.files.items()]
        give_to_root(self.engine, self.container.id, "/", entries)

    def _not_for_root(self) -> set[str]:
        """The folder where FIFOs will be made, read-only mounts, and folders that belong to others."""
        mounts = (*self._mounts, *_mounts_of(self.staged))
        read_only = {mount.target for mount in mounts if mount.read_only}
        if self.plan.data_parallel is not None:
            read_only.add(RECORDS)  # processes of any user write there
        return (
            read_only
            | {target for _, target in self.file_systems}
            | {os.path.dirname(pipe.target) for pipe in self.host.inputs.pipes}
        )

    def _folders(self, check: Check) -> list[str]:
        """Every folder that smlocal made for the container, parents first, as paths in the container."""
        found = []
        for here, target in self.binds:
            for folder, _, _ in os.walk(here):
                check()
                found.append(target + folder.removeprefix(here))
        return sorted(found)

    def _watch_usage(self) -> None:
        engine = self.plan.engine_of(self.host)  # the GPUs of this machine are not those of another one
        if engine.place is not None:
            return  # it is not known to tell usage
        folders = [
            (mount.source, mount.target)
            for mount in self._mounts
            if mount.target != self.plan.folders.input and not mount.volume
        ]
        self._usage.begin(
            self.engine,
            self.container.id,
            path=series_path(self.plan.job_directory, self.name),
            gpus=self.host.accelerators.gpus.ids if self.host.accelerators.gpus is not None and engine.local else None,
            folders=[*folders, *self._overlay_folders()],
            started_before=self._running_before,
        )

    def _overlay_folders(self) -> list[tuple[str, str]]:
        """Where writes to channels go: (here, in the container). If it was taken over, here is not known."""
        if not self.staged:
            return [("", tree.target) for tree in trees(self.plan, self.host) if tree.staging == "overlay"]
        return [(each.upper, each.mounts[0].target) for each in self.staged if each.upper is not None]


def _mounts_of(staged: Sequence[StagedChannel]) -> tuple[Mount, ...]:
    return tuple(mount for channel in staged for mount in channel.mounts)


class LateNames:
    """The `/etc/hosts` of one host."""

    def __init__(self, plan: JobPlan, host: HostPlan, died: Callable[[str, BaseException], None]) -> None:
        """`died` gets the exception that ends the thread."""
        self._plan, self._host, self._died = plan, host, died
        self._path = f"{plan.job_directory}/staged/{host.host.name}/etc-hosts"
        self._over = Event()

    def mount(self) -> Mount:
        """Write the file with the names that are known from the beginning."""
        name = self._host.host.name
        known = {
            name: self._addresses[name],
            self._host.names.hostname: self._addresses[name],
            **self._host.names.extra_hosts,
        }
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(_ALWAYS)
            file.writelines(f"{self._reached(address)}\t{each}\n" for each, address in known.items())
        os.chmod(self._path, 0o644)
        return Mount(source=self._path, target="/etc/hosts")

    def begin(self) -> None:
        """The container has started."""
        thread = watched_thread(self._wait, name=f"{self._host.host.name}-late-names", died=self._died)
        thread.start()

    def add_peers(self) -> None:
        """Let the container resolve the names of its peers, in the file that it sees."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.writelines(
                f"{address}\t{name}\n" for name, address in self._addresses.items() if name != self._host.host.name
            )

    def close(self) -> None:
        """The container has ended."""
        self._over.set()

    def _reached(self, address: str) -> str:
        network = self._plan.network.own
        return network.gateway if network is not None and address == HOST_GATEWAY else address

    @property
    def _addresses(self) -> dict[str, str]:
        network = self._plan.network.own
        return dict(network.addresses) if network is not None else {}

    def _wait(self) -> None:
        if not self._over.wait(self._plan.faults.names_after):
            self.add_peers()
