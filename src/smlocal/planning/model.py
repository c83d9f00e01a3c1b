"""What exactly will be done: the one object that `smlocal plan` shows and `smlocal run` executes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from smlocal.contract.checkpoints import is_own_mount
from smlocal.contract.documents.hosts import Host
from smlocal.contract.gpus import GpuDevices
from smlocal.contract.limits import Limits
from smlocal.contract.listing import Listing
from smlocal.contract.sharding import WHOLE, Shard
from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.facts import EngineFacts, ImageFacts, MachineFacts
from smlocal.planning.network import NetworkPlan
from smlocal.planning.staging import Staging
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TreePlan:
    """A tree that appears in the container while the user's own files stay as they are."""

    name: str
    uri: str
    """As the request says it."""
    target: str
    listing: Listing
    """What this host gets of it."""
    staging: Staging
    reason: str | None
    """Why it is not staged as it would be best, where it is not."""
    mode: str = "File"
    """`File`, `FastFile`, or `FileSystem` for EFS and FSx."""
    writable: bool = True
    """False for FastFile and for a file system that is mounted `ro`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipePlan:
    """A channel that one host reads from FIFOs, one an epoch."""

    name: str
    uri: str
    """As the request says it."""
    target: str
    """The FIFO of epoch 0 without its `_0`."""
    listing: Listing
    """The whole of it, all hosts' shards; of an augmented manifest that one object."""
    shard: Shard = WHOLE
    record_io: bool = False
    gzip: bool = False
    seed: int | None = None
    """Of ShuffleConfig."""
    attributes: tuple[str, ...] = ()
    """What is sent of each line of an augmented manifest; empty for every other kind of source."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local.Sources with absolute folders, for the URIs in an augmented manifest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPlan:
    """One container and what it finds."""

    host: Host
    container: str
    """Its name on the engine."""
    hostname: str
    directories: tuple[str, ...]
    """Made empty before the start, as paths in the container."""
    files: Mapping[str, bytes]
    """Config files and manifests, by path in the container."""
    channels: tuple[TreePlan, ...]
    pipes: tuple[PipePlan, ...]
    environment: Mapping[str, str]
    extra_hosts: Mapping[str, str]
    """Names with their addresses, beside those on the job's network."""
    aliases: tuple[str, ...]
    devices: GpuDevices | None = None
    """The GPUs it gets."""
    neuron: tuple[str, ...] = ()
    """Its Neuron devices, as `/dev/neuron0`."""
    limits: Limits = field(default_factory=Limits)

    @property
    def gpus(self) -> int:
        """How many GPUs it gets; 0 too where nobody knows how many all of them are."""
        return len(self.devices.ids) if self.devices is not None else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointPlan:
    """What every host finds of earlier work, and where its own is saved."""

    uri: str
    """As the request says it."""
    directory: str
    """The local folder that stands for the prefix; it need not exist. Where S3 does, for what S3 did not take."""
    local_path: str
    """Folder in the container, in its plainest spelling."""
    listing: Listing
    """What is restored; of nothing when there is nothing."""
    s3_prefix: str | None = None
    """With a `/` at its end; where files are mirrored to, instead of the folder, when that is published."""

    @property
    def own_mount(self) -> bool:
        """False where LocalPath lies in a folder that is mounted anyway."""
        return is_own_mount(self.local_path)


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputPlan:
    """Where results go."""

    uri: str
    """What the request asked for."""
    model_uri: str
    """What ModelArtifacts will say."""
    directory: str
    """The local folder that receives `output/`."""
    compression: str
    merge_output: bool
    publish: bool = False
    """Also upload to `uri`, which is in S3 then."""
    free: int | None = None
    """Bytes that fit into the folder now, where that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialPlan:
    """The AWS credentials that the containers get while they run."""

    mode: str
    """`inherit`: those of whoever runs smlocal; `role`: those of the job's role."""
    role_arn: str
    """As the request says it; empty where it does not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StopPlan:
    """When and how the job is stopped."""

    max_runtime: int
    max_wait: int | None = None
    """From the job's creation, for spot instances."""
    grace: int
    peer_grace: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultPlan:
    """Something to be staged, as `Local.Faults` says."""

    interrupt: bool
    """A spot interruption; else an internal error of the platform."""
    when: str
    """`Before`, `During` or `After` training."""
    after: int
    """Seconds of training."""
    times: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A difference from the service that applies to this job, or a warning about it."""

    id: str
    text: str
    warning: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPlan:
    """Everything that will be done for one job."""

    name: str
    run_id: str
    arn: str
    region: str
    account: str
    image: str
    image_facts: ImageFacts | None
    engine: EngineFacts
    machine: MachineFacts
    entrypoint: tuple[str, ...] | None
    command: tuple[str, ...] | None
    network: NetworkPlan | None
    """The job's own; None for the engine's default."""
    hosts: tuple[HostPlan, ...]
    code: TreePlan | None
    output: OutputPlan
    stop: StopPlan
    job_directory: str
    request: Mapping[str, Any]
    """The effective request: what was given, with the name."""
    retries: int = 0
    """How often an internal error of the platform is followed by another attempt."""
    faults: tuple[FaultPlan, ...] = ()
    checkpoints: CheckpointPlan | None = None
    collectors: tuple[CollectorPlan, ...] = ()
    unreachable: tuple[str, ...] = ()
    """Services of Local.Endpoints that listen where no container reaches them."""
    credentials: CredentialPlan | None = None
    """None for containers that get none."""
    cache_bytes: int = 0
    """How much of what is downloaded is kept for later jobs; 0 keeps nothing."""
    no_volume: str | None = None
    """Why the volume's size is not kept to, where it should be and cannot."""
    notes: tuple[Note, ...] = ()

    @property
    def published_mirrors(self) -> tuple[tuple[str, str], ...]:
        """The members of the request whose files are mirrored to S3, each with its prefix there."""
        found = [(each.member, each.s3_prefix) for each in self.collectors]
        if self.checkpoints is not None:
            found.insert(0, ("CheckpointConfig", self.checkpoints.s3_prefix))
        return tuple((member, prefix) for member, prefix in found if prefix is not None)

    @property
    def trees(self) -> tuple[TreePlan, ...]:
        """The channels that are folders, each once: as the first host that has it finds it."""
        found: dict[str, TreePlan] = {}
        for host in self.hosts:
            for tree in host.channels:
                found.setdefault(tree.name, tree)
        return tuple(found.values())

    @property
    def pipes(self) -> tuple[PipePlan, ...]:
        """The channels that are FIFOs, each once."""
        found: dict[str, PipePlan] = {}
        for host in self.hosts:
            for pipe in host.pipes:
                found.setdefault(pipe.name, pipe)
        return tuple(found.values())

    @property
    def fed(self) -> bool:
        """True when the containers need this machine to bring them data all the while."""
        return bool(self.pipes) or any(tree.staging == "fuse" for tree in self.trees)
