"""The plan of a job: the object that `smlocal plan` shows and `smlocal run` executes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import EngineFacts
from smlocal.jobs.planning.aspects.accelerators.plan import HostAccelerators
from smlocal.jobs.planning.aspects.credentials.plan import CredentialPlan
from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan
from smlocal.jobs.planning.aspects.debugging.plan import DebugPlan
from smlocal.jobs.planning.aspects.engines.plan import EnginesPlan
from smlocal.jobs.planning.aspects.faults.plan import FaultsPlan
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs, InputsPlan
from smlocal.jobs.planning.aspects.mirrored.plan import CollectorPlan, MirroredPlan
from smlocal.jobs.planning.aspects.network.plan import HostNames, JobNetwork
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.aspects.rules.plan import RulesPlan
from smlocal.jobs.planning.aspects.serving.plan import ServerPlan, ServingPlan
from smlocal.jobs.planning.aspects.warm_pool.plan import WarmPoolPlan
from smlocal.jobs.planning.workload import ContainerFolders, StopPlan
from smlocal.terms.channels import PipePlan, TreePlan
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits
from smlocal.terms.metrics import MetricPattern
from smlocal.terms.rights import EVERYTHING, Rights

SPREAD_OVER: Final = "spread-over"
"""The note of a job that runs whole on one of several engines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPlan:
    """One container and everything in it."""

    host: Host
    container: str
    """Its name on the engine."""
    names: HostNames
    directories: tuple[str, ...]
    """Folders in the container that are empty at the start."""
    files: Mapping[str, bytes]
    """Config files and manifests by their path in the container."""
    environment: Mapping[str, str]
    inputs: HostInputs = field(default_factory=HostInputs)
    accelerators: HostAccelerators = field(default_factory=HostAccelerators)
    limits: Limits = field(default_factory=Limits)
    program: ImagePlan | None = None
    """Where hosts of a job run different things. None: that of the job."""
    engine: str = ""
    """The address of the engine that it runs on; empty: the job's only one."""
    server: ServerPlan | None = None
    """Of a container that answers requests."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptPlan:
    """The facts about the containers that are kept after their end."""

    containers: str = "none"
    """Which ended jobs keep them: `failed`, `all` or `none`."""
    changes: bool = False
    """List what they write outside the platform's folders and /tmp."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A difference from the service that applies to this job, or a warning."""

    id: str
    text: str
    warning: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class IdentityPlan:
    """The platform's names for the job, and its place."""

    arn: str
    region: str
    account: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedPlan:
    """The plan of every job; jobs without containers have only this."""

    platform: str
    """The name of the kind of job."""
    name: str
    run_id: str
    job_directory: str
    request: Mapping[str, Any]
    """The request as given, with the job's name."""
    rights: Rights = EVERYTHING
    """The rights of the job on this machine."""
    identity: IdentityPlan
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only its kind knows of it, as JSON."""
    spread: str = ""
    """The engine that runs it whole, as `Local.SpreadOver` names it; empty if that does not choose one."""

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of its hosts on this machine."""
        return ()

    @property
    def model_uri(self) -> str:
        """The URI of the model that the platform answers; empty if there is none."""
        return ""

    @property
    def engine_addresses(self) -> tuple[str, ...]:
        """The addresses of the engines that have a part of the job."""
        return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPlan(RecordedPlan):
    """Everything that a run of one job with containers does."""

    image: ImagePlan
    engines: EnginesPlan
    network: JobNetwork = field(default_factory=JobNetwork)
    folders: ContainerFolders
    hosts: tuple[HostPlan, ...]
    inputs: InputsPlan = field(default_factory=InputsPlan)
    output: OutputPlan
    mirrored: MirroredPlan = field(default_factory=MirroredPlan)
    credentials: CredentialPlan | None = None
    """None if the containers get none."""
    rules: RulesPlan = field(default_factory=RulesPlan)
    metrics: tuple[MetricPattern, ...] = ()
    """The metrics that the logs are searched for."""
    data_parallel: DataParallelPlan | None = None
    """None if the containers do not get the stand-in for the data parallel library."""
    debug: DebugPlan | None = None
    """None if no program waits for a debugger."""
    serving: ServingPlan | None = None
    """None if no container answers requests."""
    warm_pool: WarmPoolPlan | None = None
    """None if nothing is kept for the next job."""
    stop: StopPlan
    faults: FaultsPlan = field(default_factory=FaultsPlan)
    kept: KeptPlan = field(default_factory=KeptPlan)

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of its hosts on this machine."""
        return tuple(each.host.name for each in self.hosts)

    @property
    def model_uri(self) -> str:
        """The URI of the model that the platform answers."""
        return self.output.model_uri

    @property
    def engine_addresses(self) -> tuple[str, ...]:
        """The addresses of the engines that have a part of the job: its hosts', and the one that made their network."""
        found = tuple(each.address for each in self.engines.each)
        manager = self.network.own.manager if self.network.own is not None else ""
        return found if manager in {"", *found} else (*found, manager)

    def engine_of(self, host: HostPlan) -> EngineFacts:
        """The engine that runs this host."""
        return next((each for each in self.engines.several if each.address == host.engine), self.engines.first)

    @property
    def trees(self) -> tuple[TreePlan, ...]:
        """The channels that are folders, each once, as the first host with the channel has it."""
        found: dict[str, TreePlan] = {}
        for host in self.hosts:
            for tree in host.inputs.trees:
                found.setdefault(tree.name, tree)
        return tuple(found.values())

    @property
    def pipes(self) -> tuple[PipePlan, ...]:
        """The Pipe channels, each once."""
        found: dict[str, PipePlan] = {}
        for host in self.hosts:
            for pipe in host.inputs.pipes:
                found.setdefault(pipe.name, pipe)
        return tuple(found.values())

    @property
    def fed(self) -> bool:
        """True if smlocal delivers data while the containers run."""
        return bool(self.pipes) or any(tree.staging == "fuse" for tree in self.trees)


def note_documents(plan: RecordedPlan) -> list[dict[str, Any]]:
    """The notes of a plan as JSON."""
    return [{"Id": note.id, "Text": note.text, "Warning": note.warning} for note in plan.notes]


def placement(plan: RecordedPlan) -> dict[str, Any]:
    """The engine of each host of a job that runs whole on one of several, as its file names it; else nothing."""
    return {"Placement": dict.fromkeys(plan.host_names, plan.spread)} if plan.spread else {}


def host_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine that contains the mounted folders of one host."""
    return f"{plan.job_directory}/hosts/{host.host.name}"


def mounted_directory(plan: JobPlan, host: HostPlan, folder: str) -> str:
    """The folder on this machine that is mounted as one of `plan.folders.mounted`."""
    pool = plan.warm_pool
    if pool is not None and pool.directory and folder == plan.folders.warm_pool:
        return f"{pool.directory}/{host.host.name}"
    return host_directory(plan, host) + plan.folders.below(folder)


def checkpoint_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with the checkpoints of one host."""
    checkpoints = plan.mirrored.checkpoints
    path = (
        "/checkpoints" if checkpoints is None or checkpoints.own_mount else plan.folders.below(checkpoints.local_path)
    )
    return f"{host_directory(plan, host)}{path}"


def collector_directory(plan: JobPlan, host: HostPlan, collector: CollectorPlan) -> str:
    """The folder on this machine with the files of a collector."""
    path = f"/{collector.name}" if collector.own_mount else plan.folders.below(collector.local_path)
    return f"{host_directory(plan, host)}{path}"


def data_parallel_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with the stand-in for the data parallel library."""
    return f"{host_directory(plan, host)}/data-parallel"


def debugging_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with what makes the program wait for a debugger."""
    return f"{host_directory(plan, host)}/debugging"


def records_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with what the processes of a host record about data parallelism."""
    return f"{host_directory(plan, host)}/data-parallel-records"
