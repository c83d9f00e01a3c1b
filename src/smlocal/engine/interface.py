"""The container verbs smlocal uses, as few as there are, and what is said with them."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.limits import Limits
from smlocal.planning.facts import EngineFacts, ImageFacts
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.engine.statistics import Statistics  # short jobs do without

JOB_LABEL = "smlocal.job"
"""On everything we make on an engine for one job; clean-up goes by this label and nothing else."""
RUN_LABEL = "smlocal.run"
"""Tells apart two jobs of one name, of two users or two homes on one engine."""

CREDENTIALS_LABEL = "smlocal.credentials"
"""On the network by which containers reach their credentials, which all jobs share, and on the marks of its users."""


class ResourceKind(StrEnum):
    """What can be left behind on an engine, in the order in which it must be removed."""

    CONTAINER = "container"
    VOLUME = "volume"
    NETWORK = "network"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One thing of ours on the engine."""

    kind: ResourceKind
    id: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A host folder (bind) or a volume, by name, at a path of the container."""

    source: str
    target: str
    volume: bool = False
    read_only: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """One container to be made. `None` for entrypoint or command keeps the image's own."""

    name: str
    image: str
    labels: Mapping[str, str]
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    environment: Mapping[str, str]
    hostname: str
    user: str = ""
    """`user`, `user:group` or their numbers; empty: the image's own."""
    mounts: tuple[Mount, ...] = ()
    extra_hosts: Mapping[str, str] = field(default_factory=dict)
    network: str | None = None
    """None: the engine's default network."""
    address: str = ""
    """On that network; empty leaves it to the engine."""
    name_servers: tuple[str, ...] = ()
    """Asked for names that the engine does not know; none: those of the engine's machine."""
    aliases: tuple[str, ...] = ()
    devices: GpuDevices | None = None
    """GPUs."""
    device_files: tuple[str, ...] = ()
    """Devices of the engine's machine, such as `/dev/neuron0`, under the same names."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """One network of the engine, whoever made it."""

    id: str
    name: str
    subnets: tuple[str, ...]
    gateway: str
    labels: Mapping[str, str]
    default: bool = False
    """True for the one that containers are on unless told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerState:
    """How a container is, or how it ended."""

    status: str
    """The engine's word: created, running, exited, dead, …"""
    exit_code: int
    oom_killed: bool
    error: str
    started_at: str
    finished_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistryLogin:
    """What a registry wants to see before it gives an image."""

    username: str
    password: str
    server: str


class Written(NamedTuple):
    """What a container has written since the last look."""

    lines: bytes
    """Lines of both streams that are whole now. The last lines of a container may have no end."""
    pieces: list[tuple[int, bytes]]
    """What came, whole lines or not: the number of the stream and the bytes."""


class Output(Protocol):
    """What an attached container writes, both streams in the order they came."""

    def __iter__(self) -> Iterator[Written]:
        """Yield what comes, as it comes; end when the container has closed both streams."""

    def close(self) -> None:
        """Stop reading from another thread; the iteration ends soon after."""


class Engine(Protocol):
    """A container engine. Every method raises `EngineError` or one of the engine errors of `errors`."""

    def facts(self) -> EngineFacts:
        """What kind of engine this is; the first call that notices that none answers."""

    def image(self, name: str) -> ImageFacts | None:
        """The image's configuration, or None when it is not here."""

    def save(self, image: str) -> Generator[bytes, None, None]:
        """Stream the archive of an image, as `docker save` writes it; errors come with the first piece."""

    def history(self, image: str) -> tuple[str, ...]:
        """The instructions that made an image, as its builder wrote them down, the oldest first."""
        ...

    def pull(self, name: str, login: RegistryLogin | None, progress: Callable[[str], None]) -> None:
        """Bring an image here, telling of progress in short lines."""

    def create_volume(self, name: str, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
        """Make a volume of the engine's `local` driver and return where its data lies on the engine's machine."""

    def create_network(
        self, name: str, labels: Mapping[str, str], *, subnet: str, gateway: str, isolated: bool = False
    ) -> None:
        """Make a private bridge network; raises `SubnetInUseError` when another network has some of its addresses.

        From an isolated one nothing but itself can be reached, not even the machine that it is on.
        """

    def networks(self) -> list[Network]:
        """Every network that there is."""
        ...

    def create(self, spec: ContainerSpec) -> str:
        """Make a container and return its id."""

    def attach(self, container: str) -> Output:
        """Read what a container writes; call before `start` so that nothing is lost."""

    def logs(self, container: str) -> Iterator[tuple[float | None, bytes]]:
        """Whole lines: everything that a container has written so far, as the engine kept it, with when it came."""

    def start(self, container: str) -> None:
        """Start PID 1; raises `EngineError` with the runtime's own message when it cannot start."""

    def wait(self, container: str) -> int:
        """Block until the container has ended and return its exit code."""

    def state(self, container: str) -> ContainerState:
        """Look at a container."""

    def addresses(self, container: str) -> tuple[str, ...]:
        """Where a container that runs can be reached; of one that has ended, nothing."""
        ...

    def statistics(self, container: str) -> "Statistics | None":
        """What a container uses at this moment, which may take a second or two; None when it does not run."""
        ...

    def began(self) -> str:
        """When the engine was last started, as a timestamp; empty where it does not tell."""
        ...

    def signal(self, container: str, signal: str) -> None:
        """Send a signal to PID 1 only; a container that has ended already is fine."""

    def get_archive(self, container: str, path: str) -> Iterator[bytes]:
        """Stream a tar of `path` (its last component is the archive's top entry)."""

    def put_archive(self, container: str, path: str, data: bytes | Iterable[bytes]) -> None:
        """Unpack a tar, whole or in pieces, below `path`, owners and modes as the archive says.

        What is mounted deeper than `path` only Docker fills; Podman unpacks below the mount, where nobody looks.
        """

    def remove(self, resource: Resource) -> None:
        """Remove by force, with anonymous volumes; what is gone already is fine."""

    def owned(self, job: str | None = None) -> list[Resource]:
        """Everything that carries our label (of one job), in the order of removal."""

    def cdi_gpus(self) -> tuple[str, ...] | None:
        """The GPUs that the engine has as CDI devices: `0`, `1`, …; None for an engine that has none so."""

    def cannot_limit(self) -> tuple[str, ...]:
        """What of `memory` and `CPUs` the engine cannot limit, for want of control groups."""
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
        """Return what stops a container of this image from getting these, in the engine's words; None: it gets them."""
