"""The interface to container engines: as few operations as smlocal needs, and their data."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.limits import Limits

if TYPE_CHECKING:
    from smlocal.engine.inspection import DiskRoom

JOB_LABEL = "smlocal.job"
"""The label of everything that is made on an engine for a job. Only things with this label are removed."""
RUN_LABEL = "smlocal.run"
"""Distinguishes jobs of the same name, of several users or homes on one engine."""

CREDENTIALS_LABEL = "smlocal.credentials"
"""The label of the shared network for credentials, and of the volumes that mark its users."""

RULE_LABEL = "smlocal.rule"
"""On a container: the number of the debugger rule that it evaluates."""


class ResourceKind(StrEnum):
    """Kinds of resources on an engine, in the order of removal."""

    CONTAINER = "container"
    VOLUME = "volume"
    NETWORK = "network"
    IMAGE = "image"
    """Only of `smlocal shell`. `Engine.owned` does not list images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource of smlocal on the engine."""

    kind: ResourceKind
    id: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A folder of this machine (bind) or a volume (by name), mounted at a path in the container."""

    source: str
    target: str
    volume: bool = False
    read_only: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """A container to be made. None for entrypoint or command: the image's."""

    name: str
    image: str
    labels: Mapping[str, str]
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    environment: Mapping[str, str]
    hostname: str
    user: str = ""
    """`user`, `user:group` or their numbers; empty: the image's."""
    mounts: tuple[Mount, ...] = ()
    extra_hosts: Mapping[str, str] = field(default_factory=dict)
    network: str | None = None
    """None: the engine's default network."""
    address: str = ""
    """The address on that network; empty: the engine chooses."""
    name_servers: tuple[str, ...] = ()
    """DNS servers for names that the engine does not know; empty: those of the engine's machine."""
    aliases: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    """Further networks, by name."""
    ports: tuple[int, ...] = ()
    """Ports that are the same ones of 127.0.0.1 on the engine's machine."""
    published: Mapping[int, int] = field(default_factory=dict)
    """Other ports of 127.0.0.1 there, by the container's port."""
    devices: GpuDevices | None = None
    """GPUs."""
    runtime: str = ""
    """One of the engine's runtimes; empty: its usual one."""
    device_files: tuple[str, ...] = ()
    """Device files, such as `/dev/neuron0`."""
    limits: Limits = field(default_factory=Limits)
    standard_input: bool = False
    """True if it stays open for `Engine.attach_streams`."""
    terminal: bool = False
    """True for a terminal instead of three pipes."""
    behind_others: bool = False
    """True for containers that must not disturb others: unprivileged, with low priority and little output kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerOrigin:
    """The origin of a container."""

    image: str
    """The image's id. Its name may be that of another image now."""
    mounts: tuple[Mount, ...]
    """Everything that is mounted, also volumes of the image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """A network of the engine, of smlocal or not."""

    id: str
    name: str
    subnets: tuple[str, ...]
    gateway: str
    labels: Mapping[str, str]
    default: bool = False
    """True for the engine's default network."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerState:
    """The state of a container."""

    status: str
    """The engine's word: created, running, exited, dead, …"""
    exit_code: int
    oom_killed: bool
    error: str
    started_at: str
    finished_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistryLogin:
    """A login for a registry."""

    username: str
    password: str
    server: str


class PullState(NamedTuple):
    """How far an image has been pulled."""

    bytes: int
    """Downloaded so far."""
    total_bytes: int | None
    """None until the size of a layer is known."""
    layers: int
    """Layers that are ready: downloaded and unpacked, or already there."""
    total_layers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerProcess:
    """One process of a container."""

    name: str
    caught: int
    """A mask of the signals for which it has a handler; bit 0 is signal 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The engine's statistics of a running container at one moment. None: not known."""

    at: float
    """Seconds since the epoch, by the engine's clock."""
    cpu_seconds: float
    """On all processors, since the start."""
    cpus: int
    """The number of processors that it may use."""
    memory: int
    """Bytes, including file cache."""
    cache: int
    """The part that is inactive file cache, which `docker stats` subtracts."""
    memory_highest: int | None
    """The highest since the start, including file cache; only with cgroup v1."""
    disk_read: int | None
    disk_written: int | None
    network_received: int | None
    network_sent: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SwarmMember:
    """The engine's report about itself and its swarm."""

    address: str
    node_id: str
    """Tells it from others. The engine's own id does not: machines that were copied have the same."""
    state: str
    """The engine's word: `active`, `inactive`, `pending`, `locked` or `error`."""
    is_manager: bool
    nodes: frozenset[str] | None = None
    """The ids of all nodes that a manager knows; None of a worker, and of a manager that cannot say."""
    trouble: str = ""
    """Why a manager cannot say."""


class Written(NamedTuple):
    """New output of a container."""

    lines: bytes
    """The lines of both streams that are complete now. The last lines of a container may have no newline."""
    pieces: list[tuple[int, bytes]]
    """The bytes as they arrived, complete lines or not, with the number of their stream."""


class Output(Protocol):
    """The output of an attached container: both streams in the order of arrival."""

    def __iter__(self) -> Iterator[Written]:
        """Yield output as it arrives, until the container has closed both streams."""

    def close(self) -> None:
        """Stop reading from another thread; the iteration ends soon after."""


class ProcessStreams(Protocol):
    """The standard streams of one process in a container, on a connection that never blocks. One thread uses it."""

    def fileno(self) -> int:
        """The number of the connection, to wait until it can be read or written."""
        ...

    def read(self) -> list[tuple[int, bytes]] | None:
        """The bytes that have arrived, with the number of their stream, 1 or 2; None once both streams have ended."""

    def write(self, data: bytes) -> int:
        """Send the beginning of these bytes to standard input; returns how many were sent, perhaps none."""
        ...

    def end_input(self) -> None:
        """Close standard input."""

    def resize(self, rows: int, columns: int) -> None:
        """Set the size of the process's terminal. Nothing happens if it has none, or has ended."""

    def exit_code(self) -> int:
        """Wait until the process has ended; returns its exit code."""
        ...

    def close(self) -> None:
        """Close the connection. The process may continue."""


class Engine(Protocol):
    """A container engine. Every method may raise `EngineError` or another engine error of `errors`."""

    def facts(self) -> EngineFacts:
        """The kind of this engine. This is the first call, so it reports if no engine answers."""

    def docker_command(self) -> tuple[str, ...]:
        """The words of the docker command, for this engine."""
        ...

    def has_our_mounts(self) -> bool:
        """True if every path of this machine is the same for the engine, as far as that can be seen from outside."""
        ...

    def image(self, name: str) -> ImageFacts | None:
        """The image's configuration; None if the engine does not have the image."""

    def save(self, image: str) -> Generator[bytes, None, None]:
        """Stream the archive of an image, as `docker save` writes it. Errors are raised with the first piece."""

    def load(self, archive: Iterable[bytes]) -> None:
        """Load images from an archive as `save` streams it."""

    def history(self, image: str) -> tuple[str, ...]:
        """The instructions that made an image, oldest first."""
        ...

    def pull(
        self,
        name: str,
        login: RegistryLogin | None,
        progress: Callable[[str], None],
        working: Callable[[PullState], None] = lambda _: None,
    ) -> None:
        """Pull an image; `progress` gets short lines, and `working` the state, many times a second."""

    def disk_room(self) -> "DiskRoom | None":
        """The room for images; None if it is on a disk that this process does not see."""

    def create_volume(self, name: str, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
        """Make a volume with the `local` driver; returns the path of its data on the engine's machine."""

    def create_network(
        self,
        name: str,
        labels: Mapping[str, str],
        *,
        subnet: str,
        gateway: str,
        isolated: bool = False,
        reached: bool = False,
        overlay: bool = False,
    ) -> None:
        """Make a bridge network; raises `SubnetInUseError` if another network has some of its addresses.

        `EngineNameInUseError`: another network has its name. While that one is being made, Docker makes both.

        From an isolated network nothing else can be reached, not even the engine's machine, unless it is `reached` from
        there: then it has an address on it. With `overlay`, the engine
        is a manager of a swarm, containers of all its engines can be on the network, and the first half of the subnet
        is the swarm's own.
        """

    def swarm_member(self) -> SwarmMember:
        """The engine's report about itself and its swarm."""
        ...

    def networks(self) -> list[Network]:
        """All networks."""
        ...

    def create(self, spec: ContainerSpec) -> str:
        """Make a container and return its id; `EngineNameInUseError` if one has its name, or is being made with it."""

    def attach(self, container: str) -> Output:
        """Read the output of a container. Attach before `start`, so that nothing is lost."""

    def attach_streams(self, container: str, *, terminal: bool) -> ProcessStreams:
        """Connect to all streams of a container whose standard input is open. Attach before `start`."""
        ...

    def execute(self, container: str, command: Sequence[str], *, terminal: bool) -> ProcessStreams:
        """Start a process in a running container, with its environment and user."""
        ...

    def origin(self, container: str) -> ContainerOrigin:
        """The origin of a container."""
        ...

    def commit(self, container: str, label: tuple[str, str]) -> str:
        """Make an image of an ended container, with its labels and this one; returns the image's id."""
        ...

    def image_names(self) -> list[str]:
        """The names of all images on the engine, with tags."""
        ...

    def images(self, job: str) -> list[Resource]:
        """All images with our label of this job."""
        ...

    def logs(self, container: str) -> Iterator[tuple[float | None, bytes]]:
        """The complete lines in the engine's copy of the output, with their times."""

    def start(self, container: str) -> None:
        """Start the container; raises `EngineError` with the runtime's message if that fails.

        `NetworkAttachError`, `NetworkGoneError`: it is not on its network of a swarm. It cannot be started again then.
        """

    def wait(self, container: str) -> int:
        """Wait until the container has ended; returns its exit code."""

    def state(self, container: str) -> ContainerState:
        """The state of a container."""

    def processes(self, container: str) -> tuple[ContainerProcess, ...]:
        """The processes of a container, its first process first; `EngineError` for one that does not run."""
        ...

    def changes(self, container: str, *, soon: bool = False) -> tuple[str, ...]:
        """The paths that a container added, changed or removed, outside mounts.

        An engine may compare all files with the image. `soon`: fail if that takes long.
        """
        ...

    def written_bytes(self, container: str) -> int:
        """The size of the files that a container added to its image, and of Podman's own. Fast."""
        ...

    def addresses(self, container: str) -> tuple[str, ...]:
        """The addresses of a running container; empty if it has ended."""
        ...

    def statistics(self, container: str) -> Statistics | None:
        """The usage of a container now; None if it is not running. It may take two seconds."""
        ...

    def began(self) -> str:
        """A timestamp that changes when a restart of the engine has ended all containers; empty if not known."""
        ...

    def signal(self, container: str, signal: str) -> None:
        """Send a signal to PID 1; no error if the container has ended."""

    def get_archive(self, container: str, path: str, *, small: bool = False) -> Generator[bytes, None, None]:
        """Stream a tar of `path`; the top entry is the last component of `path`. A `small` one may take less time."""

    def put_archive(self, container: str, path: str, data: bytes | Iterable[bytes], *, small: bool = False) -> None:
        """Unpack a tar below `path`, with the owners and modes in the archive. A `small` one may take less time.

        Only Docker unpacks into mounts below `path`; Podman unpacks into the folders under those mounts.
        """

    def remove(self, resource: Resource) -> None:
        """Remove by force, with anonymous volumes; no error if it does not exist. Then the engine lists it no more.

        A network of a swarm is removed on a manager. Any other engine waits until it is gone there too.
        """

    def owned(self, job: str | None = None) -> list[Resource]:
        """All resources with our label (of one job), in the order of removal."""

    def cdi_gpus(self) -> tuple[str, ...] | None:
        """The GPUs that the engine has as CDI devices: `0`, `1`, …; None if it has none."""

    def plain_runtime(self) -> str | None:
        """The runtime that gives no GPUs to containers which only name them in a variable.

        Empty if that is the usual one; None if there is none, or it is not known.
        """
        ...

    def cannot_limit(self) -> tuple[str, ...]:
        """Which of `memory` and `CPUs` the engine cannot limit."""
        ...

    def probe(
        self,
        image: str,
        labels: Mapping[str, str],
        *,
        devices: GpuDevices | None = None,
        device_files: tuple[str, ...] = (),
        limits: Limits | None = None,
    ) -> str | None:
        """The engine's error if a container of this image cannot have these; None if it can."""
