"""The engine's description of itself and of an image."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from smlocal.base.quick_dataclass import dataclass

SLOW = 3.0
"""An `EngineFacts.slowness` that is worth a word."""
HOST_GATEWAY = "host-gateway"
"""Among the extra hosts of a container: the address of the engine's machine."""
Product = Literal["docker", "podman"]
"""Which engine it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A place that restricts its engine, such as SageMaker Studio. Rooms ask the members below, never its name."""

    name: str = "SageMaker Studio"
    app: str
    """Which program of Studio it is, in its own word: `JupyterLab`, `CodeEditor` or `KernelGateway`."""
    domain: str = ""
    """The id of the domain whose administrator decides whether there is an engine; empty if not known."""
    network: str = "sagemaker"
    """The only network for containers and builds. Containers share its addresses and ports with smlocal itself."""
    host: str = "sagemaker-local"
    """The only name of a host that such containers can look up."""
    variable: str = "SM_STUDIO_LOCAL_MODE"
    """It is `True` in containers of the SDK's local mode there."""


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
    """The CPUs of the engine's machine; 0 if that is this machine."""
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
    ignores_case: bool = False
    """True if names that differ only in case are one in the folders of this machine that it mounts."""
    named: bool = False
    """True if the job names it; False for the engine that the docker command uses."""
    untried: str | None = None
    """Why it was not tried whether it shares folders, if there is a reason to doubt the assumption."""
    place: Place | None = None
    """What restricts it; None for an engine that does all that is asked."""

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
    labels: Mapping[str, str] = field(default_factory=dict)
    reserved_files: tuple[str, ...] = ()
    """A few of its files in the platform's own folders, except code."""
    serve_program: str = ""
    """The path of `serve` on the image's PATH; empty if absent or not searched."""
