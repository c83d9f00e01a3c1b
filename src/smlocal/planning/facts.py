"""What a plan needs to know about this machine. `job.prepare` gathers it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from smlocal.contract.listing import Listing
from smlocal.quick_dataclass import dataclass

SLOW = 3.0
"""An `EngineFacts.slowness` that is worth a word."""
Product = Literal["docker", "podman"]
"""Which engine it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineFacts:
    """The engine that will run the containers."""

    address: str
    """`unix:///var/run/docker.sock`, `tcp://…`"""
    local: bool
    """True if it listens at a unix socket of this machine."""
    shares_folders: bool
    """True if it mounts this machine's folders at their paths."""
    version: str
    architecture: str
    """Spelled as in images: `amd64`, `arm64`."""
    operating_system: str
    storage_driver: str
    rootless: bool = False
    product: Product = "docker"
    cpus: int = 0
    """Of the engine's machine; 0 if that is this machine."""
    memory_mib: int = 0
    desktop: bool = False
    """True if it is local, and its containers run in a virtual machine."""
    identity: str = ""
    """Tells this engine from others, and, at a socket, from itself after a restart; empty for one on another machine,
    which is never asked to mount a folder of this one."""
    same_mounts: bool = True
    """True if every path of this machine is the same for it. If it shares folders and this is False, only some are."""
    slowness: float | None = None
    """How many times as long small files take through a mount as in the container's own file system; None if it was
    not measured."""
    named: bool = False
    """True if the job names it; False for the engine that the docker command uses."""
    untried: str | None = None
    """Why it was not tried whether it shares folders, if there is a reason to doubt what is assumed."""

    @property
    def elsewhere(self) -> bool:
        """True if it is on another machine."""
        return not self.local and not self.identity


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFacts:
    """The configuration of an image on the engine."""

    id: str
    architecture: str
    operating_system: str
    size: int
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    user: str
    working_directory: str
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str | None = None
    volumes: tuple[str, ...] = ()
    """Paths from its VOLUME instructions."""
    reserved_files: tuple[str, ...] = ()
    """A few of its files in the platform's own folders, except code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuFacts:
    """The GPUs for containers; gathered only for jobs that want some."""

    ids: tuple[str, ...] | None = None
    """As `nvidia-smi` numbers them; None if not known."""
    cdi: bool = False
    """True if the engine has them as CDI devices."""
    busy: Mapping[str, str] = field(default_factory=dict)
    """The job that uses a GPU now, by the GPU's id."""
    trouble: str | None = None
    """The driver's error message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFacts:
    """The size of this machine."""

    cpus: int
    memory_mib: int
    gpus: GpuFacts = field(default_factory=GpuFacts)
    neuron: int | None = None
    """The number of Neuron devices, for jobs that need some; None if not known."""
    unlimited: tuple[str, ...] = ()
    """Which of `memory` and `CPUs` the engine cannot limit; gathered only for jobs with limits."""
    plain_runtime: str | None = ""
    """The engine's runtime for containers that no variable gives GPUs to. Empty: the usual one. None: it has none."""
    free_disk: int | None = None
    """Bytes for volumes; gathered only for jobs with a volume of limited size."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineShare:
    """One of several engines of a job, with the hosts that run on it."""

    engine: EngineFacts
    machine: MachineFacts
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Everything about this machine that decides how a request is run."""

    engine: EngineFacts
    machine: MachineFacts
    image: ImageFacts | None
    """None if the image is not on the engine: a plan is possible, a run pulls the image first."""
    listings: Mapping[str, Listing]
    """By channel name."""
    code: Listing | None
    output: str
    """The absolute local folder for artifacts."""
    region: str
    account: str
    run_id: str
    """Eight hex digits that distinguish the containers and volumes of two runs."""
    job_directory: str
    """The absolute folder of the job in smlocal's home."""
    output_free: int | None = None
    """Free bytes there."""
    collectors: Mapping[str, str] = field(default_factory=dict)
    """The local folder used instead of a collector's URI, by the member of the request."""
    file_systems: Mapping[str, Listing] = field(default_factory=dict)
    """The folder used instead of a file system, by channel name; its files are not listed."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders."""
    only_s3: frozenset[str] = frozenset()
    """Names of channels whose manifests may name no files of this machine."""
    rule_paths: Mapping[str, str] = field(default_factory=dict)
    """The local path used instead of a location that a debugger rule asks for."""
    built_in_rules: tuple[str, ...] = ()
    """Names of the debugger rules that smlocal has."""
    recorded_rules: tuple[str, ...] = ()
    """Names of those that only the service has."""
    no_volume: str | None = None
    """Why a volume of limited size cannot be made; None if it can."""
    no_fuse: str | None = None
    """Why objects in S3 cannot be streamed through FUSE; None if they can."""
    subnet: str = ""
    """A free subnet for the job's own network, if it needs one."""
    gateway: str = ""
    """The address at which containers on the default network reach this machine; empty if not needed."""
    loopback_only: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""
    checkpoints: Listing | None = None
    """The objects of the checkpoint prefix; None if checkpoints are not saved."""
    shares: tuple[EngineShare, ...] = ()
    """Of a job on several engines."""
    manager: str = ""
    """Of a job on several engines: the address of the one that makes their network."""

    def machine_of(self, host: str) -> MachineFacts:
        """The machine that a host runs on."""
        return next((share.machine for share in self.shares if host in share.hosts), self.machine)

    def engine_of(self, host: str) -> str:
        """The address of a host's engine; empty for a job on one engine."""
        return next((share.engine.address for share in self.shares if host in share.hosts), "")
