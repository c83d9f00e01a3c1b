"""The `Local` block of a job file: settings for this machine, which the service does not have."""

from typing import Annotated, Literal

from smlocal.contract import limits
from smlocal.contract.data_parallel import SCHEMA as DATA_PARALLEL_SCHEMA
from smlocal.contract.data_parallel import DataParallelChoice, data_parallel_trouble
from smlocal.contract.gpus import SCHEMA as GPUS_SCHEMA
from smlocal.contract.gpus import GpuChoice, gpus_trouble
from smlocal.contract.model.constraints import Checked, Items, Text, Whole
from smlocal.contract.model.structure import Structure, setting
from smlocal.contract.placement import SCHEMA as PLACEMENT_SCHEMA
from smlocal.contract.placement import SPREAD, PlacementChoice, placement_trouble
from smlocal.contract.rights import Rights

_Path = Annotated[str, Text(minimum=1)]
_Grace = Annotated[int, Whole(minimum=0, maximum=120)]


class Fault(Structure):
    """A simulated failure of the service."""

    Kind: Literal["Interrupt", "InternalError", "LateNames", "LateFifo", "StockOut", "Maintenance"]
    """A spot interruption, a failure of the platform, names of peers that resolve late, FIFOs that come late, no
    machines for the job, or maintenance of a machine."""
    When: Literal["Before", "During", "After"] = "During"
    """Before, during or after training, for a failure of the platform."""
    AfterSeconds: Annotated[int, Whole(minimum=0, maximum=2_419_200)] = 0
    """Seconds of training before the fault, for a fault during training. Of LateNames and LateFifo: the delay."""
    Times: Annotated[int, Whole(minimum=1, maximum=100)] = 1
    """Number of attempts of the job in which the fault happens."""
    Replica: _Path | None = None
    """Whose machine is maintained, such as `workerpool1-0` or `master-0`. Default: that of the primary replica."""


class CheckIgnore(Structure):
    """A finding of `smlocal check` that is accepted."""

    Id: _Path
    """The rule, such as `entrypoint-shell-form`."""
    Reason: _Path
    """Why the finding is accepted."""
    Until: Annotated[str, Text(pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day on which the finding is ignored, as YYYY-MM-DD. Default: no end."""
    Path: _Path | None = None
    """Only findings at this path in the image; `*` and `?` as in a shell. Default: all of the rule."""


class CheckSettings(Structure):
    """Settings of `smlocal check`."""

    Ignore: Annotated[list[CheckIgnore], Items(minimum=0, maximum=100)] = setting(
        default_factory=list, description="Findings that are accepted, each with a reason."
    )


class LocalSettings(Structure):
    """Settings for this machine only. Relative paths are relative to the job file."""

    Sources: Annotated[dict[_Path, _Path], Items()] = setting(
        default_factory=dict, description="Local folder for each s3:// prefix or file-system id."
    )
    AllowedPaths: Annotated[list[_Path], Items(minimum=0, maximum=1000)] | None = setting(
        default=None,
        description="Absolute folders in which the job's local paths must lie; links below them are not followed. "
        "Default: all.",
    )
    AllowedBuckets: Annotated[list[_Path], Items(minimum=0, maximum=1000)] | None = setting(
        default=None, description="Buckets of S3 that the job may read and write. Default: all."
    )
    Output: _Path | None = setting(default=None, description="Local folder for output that goes to an s3:// URI.")
    Publish: bool = setting(
        default=False, description="Upload artifacts and mirror checkpoints to S3, as the service does."
    )
    Cache: bool = setting(default=True, description="Keep downloads from S3 for later runs.")
    CacheGiB: Annotated[int, Whole(minimum=1, maximum=1_000_000)] = setting(
        default=20, description="Size limit of the downloads that are kept. The least recently used are removed first."
    )
    Credentials: Literal["none", "inherit", "role"] = setting(
        default="none",
        description="AWS credentials for the containers: none, those of this machine, or those of the job's role.",
    )
    Sample: Annotated[int, Whole(minimum=1, maximum=1_000_000_000)] | None = setting(
        default=None, description="Take only so many objects of each channel, the first ones. Default: all."
    )
    Code: _Path | None = setting(default=None, description="Folder for /opt/ml/code, copy-on-write.")
    Staging: Literal["overlay", "copy"] | None = setting(
        default=None, description="How channel data gets into the container. Default: the fastest way that works."
    )
    Region: _Path | None = setting(default=None, description="AWS region that the container is told it runs in.")
    PeerGraceSeconds: _Grace = setting(
        default=10,
        description="Seconds the other hosts get to stop once one has failed. Inferred; not documented by AWS.",
    )
    StopGraceSeconds: _Grace = setting(default=120, description="Seconds between SIGTERM and SIGKILL.")
    MaxHosts: Annotated[int, Whole(minimum=1, maximum=1000)] = setting(
        default=32, description="Maximum number of hosts of a job. Each one is a container on this machine."
    )
    Engines: Annotated[list[_Path], Items(minimum=1, maximum=32)] = setting(
        default_factory=list,
        description="Engines for the hosts, each by its address or Docker context. Default: the one that docker uses.",
    )
    Placement: Annotated[PlacementChoice, Checked(trouble=placement_trouble, schema=PLACEMENT_SCHEMA)] = setting(
        default=SPREAD, description="Which host runs on which engine: spread, or a map with the engine of each host."
    )
    NetworkRange: _Path = setting(
        default="198.18.0.0/15", description="Address range for the networks of jobs, as ADDRESS/BITS."
    )
    Endpoints: Annotated[dict[_Path, _Path], Items()] = setting(
        default_factory=dict, description="URL of an AWS service, passed to the containers as AWS_ENDPOINT_URL_SERVICE."
    )
    ResourceConfigKeys: Literal["newest", "without-topology", "three-keys"] = setting(
        default="newest", description="Keys of resourceconfig.json: today's, those of 2022 to 2025, or until 2021."
    )
    NetworkInterface: Annotated[str, Text(pattern="[a-z][a-z0-9]{0,14}")] = setting(
        default="eth0", description="network_interface_name in resourceconfig.json; the interface itself is eth0."
    )
    MergeOutput: bool = setting(default=False, description="Put the output of all hosts into output.tar.gz.")
    EnforceInstanceLimits: bool = setting(
        default=False, description="Limit containers to the memory, CPUs and volume size of the instance type."
    )
    Memory: Annotated[limits.Size, Checked(trouble=limits.memory_trouble, schema=limits.SIZE_SCHEMA)] | None = setting(
        default=None, description="Memory of each container, such as 512m."
    )
    Cpus: Annotated[float, Checked(trouble=limits.cpus_trouble, schema=limits.CPUS_SCHEMA)] | None = setting(
        default=None, description="Processors of each container, such as 1.5."
    )
    ShmSize: Annotated[limits.Size, Checked(trouble=limits.shared_memory_trouble, schema=limits.SIZE_SCHEMA)] | None = (
        setting(default=None, description="Size of /dev/shm, such as 2g. Default: the engine's.")
    )
    Ulimits: Annotated[limits.Ulimits, Checked(trouble=limits.ulimits_trouble, schema=limits.ULIMITS_SCHEMA)] | None = (
        setting(default=None, description="Ulimits such as {nofile: 65536}. Default: the engine's.")
    )
    Processes: Annotated[int, Whole(minimum=1, maximum=4_194_304)] | None = setting(
        default=None, description="Maximum number of processes and threads of each container. Default: the engine's."
    )
    Gpus: Annotated[GpuChoice, Checked(trouble=gpus_trouble, schema=GPUS_SCHEMA)] = setting(
        default="auto",
        description="GPUs: as the instance type has, all of this machine, none, a number per host, or ids.",
    )
    AllowCpu: bool = setting(default=False, description="Run a GPU or Neuron instance type without them.")
    DataParallel: Annotated[DataParallelChoice, Checked(trouble=data_parallel_trouble, schema=DATA_PARALLEL_SCHEMA)] = (
        setting(
            default="auto",
            description="Stand-in for smdistributed.dataparallel: auto (as requested), always, never, strict, or "
            "a block.",
        )
    )
    Pull: Literal["missing", "always", "never"] = setting(default="missing", description="When to pull the image.")
    Keep: Literal["failed", "all", "none"] = setting(
        default="none", description="Which ended jobs keep their containers and folders: failed ones, all, none."
    )
    Faults: Annotated[list[Fault], Items(minimum=0, maximum=20)] = setting(
        default_factory=list, description="Faults of the service to simulate."
    )
    ErrorDelaySeconds: Annotated[int, Whole(minimum=0, maximum=3600)] = setting(
        default=60,
        description="Seconds after the end of a job until its error code is attached.",
    )
    ListChanges: bool = setting(
        default=False, description="List the files that containers write outside the platform's folders and /tmp."
    )
    Rules: bool = setting(default=True, description="Evaluate debugger rules beside the job.")
    OnRule: Annotated[dict[_Path, _Path], Items()] = setting(
        default_factory=dict,
        description="What follows when a rule finds an issue, by the name of the rule or *: stop, or a command.",
    )
    Check: CheckSettings = setting(default_factory=CheckSettings, description="Settings of smlocal check.")

    @property
    def rights(self) -> Rights:
        """What the job may use of this machine."""
        return Rights(
            folders=None if self.AllowedPaths is None else tuple(self.AllowedPaths),
            buckets=None if self.AllowedBuckets is None else tuple(self.AllowedBuckets),
        )
