"""The plan of a job: the object that `smlocal plan` shows and `smlocal run` executes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.hosts import Host
from smlocal.contract.limits import Limits
from smlocal.contract.listing import Listing
from smlocal.contract.metrics.metric_values import MetricDefinition
from smlocal.contract.rights import EVERYTHING, Rights
from smlocal.contract.sharding import WHOLE, Shard
from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.data_parallel import DataParallelPlan
from smlocal.planning.facts import EngineFacts, ImageFacts, MachineFacts
from smlocal.planning.network import NetworkPlan
from smlocal.planning.rules import RulePlan
from smlocal.planning.staging import Staging
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TreePlan:
    """A folder that the container sees; the user's own files do not change."""

    name: str
    uri: str
    """As written in the request."""
    target: str
    listing: Listing
    """The part that this host gets."""
    staging: Staging
    reason: str | None
    """Why it is not staged in the best way; None if it is."""
    mode: str = "File"
    """`File`, `FastFile`, or `FileSystem` for EFS and FSx."""
    writable: bool = True
    """False for FastFile and for file systems with access mode `ro`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipePlan:
    """A channel that one host reads from FIFOs, one for each epoch."""

    name: str
    uri: str
    """As written in the request."""
    target: str
    """The path of the FIFO of epoch 0, without `_0`."""
    listing: Listing
    """The objects of all hosts; for an augmented manifest, the manifest."""
    shard: Shard = WHOLE
    record_io: bool = False
    gzip: bool = False
    seed: int | None = None
    """Of the shuffle; None if the objects are not shuffled."""
    attributes: tuple[str, ...] = ()
    """The attributes of an augmented manifest that are sent; empty for other sources."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders, for the URIs in an augmented manifest."""
    rights: Rights = EVERYTHING
    """For the paths that an augmented manifest names."""
    lines: int | None = None
    """The lines of an augmented manifest that are sent, from the first one; None for all."""
    names_files: bool = True
    """Whether an augmented manifest may name files of this machine; one in S3 never may."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramPlan:
    """What one host runs, where hosts of a job run different things."""

    image: str
    entrypoint: tuple[str, ...] | None
    """None for the image's own."""
    command: tuple[str, ...] | None
    """None for the image's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPlan:
    """One container and everything in it."""

    host: Host
    container: str
    """Its name on the engine."""
    hostname: str
    directories: tuple[str, ...]
    """Folders in the container that are empty at the start."""
    files: Mapping[str, bytes]
    """Config files and manifests by their path in the container."""
    channels: tuple[TreePlan, ...]
    pipes: tuple[PipePlan, ...]
    environment: Mapping[str, str]
    extra_hosts: Mapping[str, str]
    """Addresses by name, in addition to the hosts on the job's network."""
    aliases: tuple[str, ...]
    devices: GpuDevices | None = None
    """None without GPUs."""
    runtime: str = ""
    """The engine's runtime; empty: the usual one."""
    neuron: tuple[str, ...] = ()
    """Neuron devices, such as `/dev/neuron0`."""
    limits: Limits = field(default_factory=Limits)
    program: ProgramPlan | None = None
    """None: that of the job."""
    engine: str = ""
    """The address of the engine that it runs on; empty: the job's only one."""

    @property
    def gpus(self) -> int:
        """The number of GPUs; 0 also if it gets all and their number is not known."""
        return len(self.devices.ids) if self.devices is not None else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointPlan:
    """Where checkpoints are restored from and saved to."""

    member: str
    """The member of the request."""
    uri: str
    """As written in the request."""
    directory: str
    """The local folder used instead of the prefix; it need not exist. When publishing, it takes what S3 refused."""
    local_path: str
    """The folder in the container, normalized."""
    listing: Listing
    """What is restored; may be empty."""
    own_mount: bool
    """False if that folder is in another that is mounted anyway."""
    s3_prefix: str | None = None
    """The prefix in S3, with `/` at its end, that files are mirrored to when publishing; else None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputPlan:
    """Where results go."""

    uri: str
    """As written in the request."""
    model_uri: str
    """The URI of the model that the platform answers."""
    directory: str
    """The local folder that receives `output/`."""
    compression: str
    merge_output: bool
    publish: bool = False
    """Also upload to `uri`, which is in S3 then."""
    kms_key: str | None = None
    """The key that encrypts everything a job uploads."""
    free: int | None = None
    """Free bytes at that folder, if known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialPlan:
    """The AWS credentials that the containers get."""

    mode: str
    """`inherit`: those of the user; `role`: those of the job's role."""
    role_arn: str
    """From the request; may be empty."""
    session: str
    """The name of the session at that role, which is shown in messages about denied access."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StopPlan:
    """When and how the job is stopped."""

    max_runtime: int
    max_wait: int | None = None
    """Seconds from the job's creation, for spot training."""
    grace: int
    peer_grace: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultPlan:
    """A fault to simulate, from `Local.Faults`."""

    kind: str
    """`interrupt`, `internal-error`, `stock-out` (no machines for the hosts) or `maintenance` (of a host's machine)."""
    when: str
    """`Before`, `During` or `After` training."""
    after: int
    """Seconds of training."""
    times: int
    host: str = ""
    """The host whose machine is maintained."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A difference from the service that applies to this job, or a warning."""

    id: str
    text: str
    warning: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerFolders:
    """The folders in the container that the platform promises; empty text for those that it does not have."""

    root: str
    """Paths below it are the same on this machine, below the folder of the host."""
    input: str
    data: str
    """Where the channels are, in `input`."""
    model: str
    output: str
    output_data: str
    """What is packed of `output`."""
    failure: str
    """The file in which a program says why it failed, in `output`."""
    warm_pool: str = ""
    """What a warm pool would keep for the next job. Here it is empty in each."""

    @property
    def mounted(self) -> tuple[str, ...]:
        """Those that are mounted. Not the root: images have code in it, and toolkits write next to the others."""
        return tuple(folder for folder in (self.input, self.model, self.output, self.warm_pool) if folder)

    def below(self, path: str) -> str:
        """What follows the root in a path, from its `/` on."""
        return path.removeprefix(self.root)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPlan:
    """Everything that a run of one job does."""

    platform: str
    """The name of the platform that the job is written for."""
    name: str
    run_id: str
    arn: str
    region: str
    account: str
    image: str
    image_facts: ImageFacts | None
    engine: EngineFacts
    """The only one, or the first of several."""
    machine: MachineFacts
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    network: NetworkPlan | None
    """The job's own network; None for the engine's default network."""
    folders: ContainerFolders
    hosts: tuple[HostPlan, ...]
    code: TreePlan | None
    output: OutputPlan
    stop: StopPlan
    job_directory: str
    request: Mapping[str, Any]
    """The request as given, with the job's name."""
    rights: Rights = EVERYTHING
    """What the job may use of this machine."""
    metrics: tuple[MetricDefinition, ...] = ()
    """What is searched for in the logs."""
    retries: int = 0
    """The number of further attempts after internal errors."""
    faults: tuple[FaultPlan, ...] = ()
    keep: str = "none"
    """Which ended jobs keep their containers: `failed`, `all` or `none`."""
    list_changes: bool = False
    """List what containers write outside the platform's folders and /tmp."""
    names_after: int = 0
    """Seconds after the start for which hosts cannot resolve the names of their peers, from `Local.Faults`."""
    fifos_after: int = 0
    """Seconds between the end of an epoch of a Pipe channel and the FIFO of the next, from `Local.Faults`."""
    checkpoints: CheckpointPlan | None = None
    collectors: tuple[CollectorPlan, ...] = ()
    rules: tuple[RulePlan, ...] = ()
    """Debugger rules that are evaluated beside the job."""
    on_rule: Mapping[str, str] = field(default_factory=dict)
    """What follows when a rule finds an issue: `stop` or a command, by the name of the rule or `*`."""
    unreachable: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen only on addresses that containers cannot reach."""
    credentials: CredentialPlan | None = None
    """None if the containers get none."""
    cache_bytes: int = 0
    """The size of the download cache; 0: no cache."""
    no_volume: str | None = None
    """Why the size of the volume cannot be enforced although it should."""
    data_parallel: DataParallelPlan | None = None
    """None if the containers do not get the stand-in for the data parallel library."""
    engines: tuple[EngineFacts, ...] = ()
    """All engines of a job on several that run a host."""
    machines: tuple[MachineFacts, ...] = ()
    """Their machines, in the same order."""
    notes: tuple[Note, ...] = ()

    @property
    def published_mirrors(self) -> tuple[tuple[str, str], ...]:
        """The members of the request whose files are mirrored to S3, with their prefixes."""
        found = [(each.member, each.s3_prefix) for each in self.collectors]
        if self.checkpoints is not None:
            found.insert(0, (self.checkpoints.member, self.checkpoints.s3_prefix))
        return tuple((member, prefix) for member, prefix in found if prefix is not None)

    @property
    def engine_addresses(self) -> tuple[str, ...]:
        """Of all engines that have something of it: those of its hosts, and the one that made their network."""
        found = tuple(each.address for each in self.engines) or (self.engine.address,)
        manager = self.network.manager if self.network is not None else ""
        return found if manager in {"", *found} else (*found, manager)

    def engine_of(self, host: HostPlan) -> EngineFacts:
        """The engine that runs this host."""
        return next((each for each in self.engines if each.address == host.engine), self.engine)

    @property
    def engine_machines(self) -> Mapping[str, MachineFacts]:
        """The machines of its engines, by the address of the engine."""
        if not self.engines:
            return {self.engine.address: self.machine}
        return {each.address: machine for each, machine in zip(self.engines, self.machines, strict=True)}

    @property
    def trees(self) -> tuple[TreePlan, ...]:
        """The channels that are folders, each once, as the first host with the channel has it."""
        found: dict[str, TreePlan] = {}
        for host in self.hosts:
            for tree in host.channels:
                found.setdefault(tree.name, tree)
        return tuple(found.values())

    @property
    def pipes(self) -> tuple[PipePlan, ...]:
        """The Pipe channels, each once."""
        found: dict[str, PipePlan] = {}
        for host in self.hosts:
            for pipe in host.pipes:
                found.setdefault(pipe.name, pipe)
        return tuple(found.values())

    @property
    def fed(self) -> bool:
        """True if smlocal delivers data while the containers run."""
        return bool(self.pipes) or any(tree.staging == "fuse" for tree in self.trees)
