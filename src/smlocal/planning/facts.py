"""What the plan needs to know about this machine. Gathered elsewhere; here are only the answers."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from smlocal.contract.listing import Listing
from smlocal.quick_dataclass import dataclass

Product = Literal["docker", "podman"]
"""Who made the engine, as far as that changes what must be done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineFacts:
    """The engine that will run the containers."""

    address: str
    """`unix:///var/run/docker.sock`, `tcp://…`"""
    local: bool
    """True when bind mounts reach this machine's folders (a unix socket)."""
    version: str
    architecture: str
    """In the image's spelling: `amd64`, `arm64`."""
    operating_system: str
    storage_driver: str
    rootless: bool = False
    product: Product = "docker"
    cpus: int = 0
    """Of the engine's machine; 0 where it was not asked, being this one."""
    memory_mib: int = 0
    desktop: bool = False
    """True when its containers live in a virtual machine that only shares folders with this one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFacts:
    """An image that is here, by its configuration alone."""

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
    """Paths of its VOLUME instructions."""
    reserved_files: tuple[str, ...] = ()
    """A few of its files below `/opt/ml`, other than those in `code`, where that was looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuFacts:
    """The GPUs that containers can have; only looked at for a job that asks for some."""

    ids: tuple[str, ...] | None = None
    """As `nvidia-smi` numbers them; None where nothing here tells which there are."""
    cdi: bool = False
    """True for an engine that has them as CDI devices."""
    busy: Mapping[str, str] = field(default_factory=dict)
    """The job that uses a GPU at this moment, by the GPU's id."""
    trouble: str | None = None
    """What the driver says that does not work."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFacts:
    """The size of the machine in front of you."""

    cpus: int
    memory_mib: int
    gpus: GpuFacts = field(default_factory=GpuFacts)
    neuron: int | None = None
    """Neuron devices; only looked at for a job that needs some, and None where they cannot be seen."""
    unlimited: tuple[str, ...] = ()
    """What the engine cannot limit, of `memory` and `CPUs`; only looked at where limits are wanted."""
    free_disk: int | None = None
    """Bytes that volumes may take, where that was looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Everything about here and now that decides how a request is carried out."""

    engine: EngineFacts
    machine: MachineFacts
    image: ImageFacts | None
    """None when the image is not here (a plan is still possible, a run pulls first)."""
    listings: Mapping[str, Listing]
    """By channel name."""
    code: Listing | None
    output: str
    """Absolute local folder that artifacts go below."""
    region: str
    account: str
    run_id: str
    """Eight hex digits that keep two runs' engine resources apart."""
    job_directory: str
    """Absolute folder of the job below the home of smlocal."""
    output_free: int | None = None
    """Bytes that still fit there."""
    collectors: Mapping[str, str] = field(default_factory=dict)
    """Local folder that stands for the S3OutputPath of a collector, by its member of the request."""
    file_systems: Mapping[str, Listing] = field(default_factory=dict)
    """By channel name: the folder that stands for the file system, with nothing listed."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders."""
    no_volume: str | None = None
    """Why no disk of a certain size can be made for a container, where none can."""
    no_fuse: str | None = None
    """Why objects of S3 cannot be shown by FUSE, where they cannot."""
    subnet: str = ""
    """That is free for a network of the job's own, where it needs one."""
    gateway: str = ""
    """By which containers on the engine's default network reach this machine; empty where nobody asked."""
    loopback_only: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen where no container reaches them."""
    checkpoints: Listing | None = None
    """What the checkpoint prefix holds; None for a job without one."""
