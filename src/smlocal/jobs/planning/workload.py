"""What a job needs of this machine, in the words of no service. Its kind makes it of a request, and aspects read it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.terms.hosts import Host
from smlocal.terms.metrics import MetricPattern
from smlocal.terms.validation.violation import Path

Mode = Literal["File", "FastFile", "Pipe", "FileSystem"]
"""How data reaches the containers. A file system is mounted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerFolders:
    """The folders in the container that the platform promises; empty text for those that it does not have."""

    root: str
    """Paths below it are the same on this machine, below the folder of the host."""
    input: str
    data: str
    """Where the channels are. It is mounted too if it is not in `input`."""
    model: str
    output: str
    output_data: str
    """The part of `output` that is packed."""
    failure: str
    """The file in which a program says why it failed, in `output`."""
    warm_pool: str = ""
    """The folder that a warm pool keeps for the next job. It is empty in each job without one."""

    @property
    def mounted(self) -> tuple[str, ...]:
        """Those that are mounted. Not the root: images have code in it, and toolkits write next to the others."""
        data = "" if self.data.startswith(f"{self.input}/") else self.data
        return tuple(folder for folder in (self.input, data, self.model, self.output, self.warm_pool) if folder)

    def below(self, path: str) -> str:
        """The part of a path after the root, from its `/` on."""
        return path.removeprefix(self.root)


@dataclass(frozen=True, kw_only=True, slots=True)
class StopPlan:
    """When and how the job is stopped, and when it begins again."""

    max_runtime: int
    max_wait: int | None = None
    """Seconds from the job's creation, for spot training."""
    grace: int
    peer_grace: int
    retries: int = 0
    """The number of further attempts after internal errors."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedFileSystem:
    """A file system that is mounted as a channel."""

    system: str
    """Its id."""
    directory: str
    writable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedChannel:
    """Data that the containers get."""

    name: str
    """A name that a file can have."""
    place: Path
    """The place of its location in the document."""
    uri: str
    target: str
    """The folder in the container, or the beginning of the names of its FIFOs."""
    mode: Mode
    data_type: str = ""
    """What the location names: a prefix, a manifest, or another form."""
    sharded: bool = False
    """True if each host gets a part of the objects."""
    groups: tuple[str, ...] = ()
    """Only the hosts of these groups get it; all if there are none."""
    record_io: bool = False
    gzip: bool = False
    seed: int | None = None
    """Objects are shuffled with it in each epoch."""
    attributes: tuple[str, ...] = ()
    """The members of each line of an augmented manifest that are sent."""
    file_system: AskedFileSystem | None = None

    def is_for(self, host: Host) -> bool:
        """False for a channel of other groups of hosts."""
        return not self.groups or host.group in self.groups


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedOutput:
    """Where artifacts go."""

    uri: str = ""
    """As written in the request; empty for a job without artifacts."""
    compression: str = "GZIP"
    kms_key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedCheckpoints:
    """The folder that is restored at the start, and mirrored while the job runs."""

    uri: str
    path: str
    """The folder in the container, normalized."""
    own_mount: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedFolder:
    """A folder of the containers, empty at the start, that is mirrored while the job runs."""

    name: str
    member: str
    """The member of the request that asks for it."""
    uri: str
    path: str
    """The folder in the container, normalized."""
    own_mount: bool
    below: str = ""
    """Where its files are below the location."""
    kept_in: str
    """The folder among the results of the job, if no folder stands for the location."""
    grows: bool = False
    """True for logs that are open and written to until the end."""
    continuous: bool = True
    """False if it is saved at the end of the job only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedRule:
    """A rule of the debugger that is evaluated beside the job."""

    name: str
    image: str
    parameters: Mapping[str, str]
    local_path: str | None
    """Where its container writes what it wants to keep."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """What one job needs of machines and containers."""

    document: Document
    """Where the request is written: mistakes are reported with the line, and paths are relative to its folder."""
    local: LocalSettings
    image: str
    entrypoint: tuple[str, ...] | None = None
    """None for the image's own."""
    command: tuple[str, ...] | None = None
    """None for the image's own."""
    hosts: tuple[Host, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Those that the request gives the containers."""
    folders: ContainerFolders
    code: str = ""
    """The folder in the container that `Local.Code` fills; empty if there is none."""
    channels: tuple[AskedChannel, ...] = ()
    empty_source_fails: bool = False
    """True if a channel without objects fails the download of the job. Else no job is made."""
    output: AskedOutput = field(default_factory=AskedOutput)
    checkpoints: AskedCheckpoints | None = None
    mirrored: tuple[AskedFolder, ...] = ()
    rules: tuple[AskedRule, ...] = ()
    metrics: tuple[MetricPattern, ...] = ()
    """The metrics that the logs are searched for."""
    role: str = ""
    """Empty if the request names none."""
    role_member: str
    """The member of the request that names it."""
    isolated: bool = False
    """True without a network."""
    in_vpc: bool = False
    """True if the service would connect the containers to a network of the user."""
    volume_gb: int | None = None
    """The size of the volume of each host; None if the request says none."""
    stop: StopPlan
    has_instances: bool = True
    """False if the faults leave no instances: then there are no containers."""
    faults: tuple[Fault, ...] = ()
    """The faults that the job is to meet."""
