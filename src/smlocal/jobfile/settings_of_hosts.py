"""Settings of the hosts of a job: how many, on which engines, with which image, devices, limits and network."""

from typing import Annotated, Final, Literal

from smlocal.jobfile.option import Form, Head, NotEmpty, Option, setting
from smlocal.terms import limits
from smlocal.terms.data_parallel import SCHEMA as DATA_PARALLEL_SCHEMA
from smlocal.terms.data_parallel import DataParallelChoice, data_parallel_trouble
from smlocal.terms.gpus import SCHEMA as GPUS_SCHEMA
from smlocal.terms.gpus import GpuChoice, gpus_trouble, read_gpus
from smlocal.terms.model.structure import Checked, Items, Structure, Text, Whole
from smlocal.terms.placement import SCHEMA as PLACEMENT_SCHEMA
from smlocal.terms.placement import SPREAD, PlacementChoice, placement_trouble

_Grace = Annotated[int, Whole(minimum=0, maximum=120)]


class HostSettings(Structure):
    """The hosts, and the time that they get to end."""

    Region: NotEmpty | None = setting(
        default=None,
        description="The job's region. Default: that of the environment, of the AWS profile or of the ECR image, else "
        "us-east-1.",
        by_clients=True,
    )
    PeerGraceSeconds: _Grace = setting(
        default=10,
        description="Seconds between SIGTERM and SIGKILL for the other hosts when one has failed. Inferred; not "
        "documented by AWS.",
        by_clients=True,
    )
    StopGraceSeconds: _Grace = setting(
        default=120,
        description="Seconds between SIGTERM and SIGKILL when a job is stopped. Endpoints, transform jobs and custom "
        "jobs have 30.",
        by_clients=True,
    )
    MaxHosts: Annotated[int, Whole(minimum=1, maximum=1000)] = setting(
        default=32,
        description="Maximum number of hosts of a job. Each one is a container on this machine.",
        by_clients=True,
    )


_INSTANCE_TYPE: Final = "ml.m5.large"
HOSTS: Final = (
    Option(
        keyword="instance_type",
        place=("ResourceConfig", "InstanceType"),
        metavar="TYPE",
        help=f"Instance type, such as ml.g5.xlarge. Default without a job file: {_INSTANCE_TYPE}.",
        default=_INSTANCE_TYPE,
        head=Head.MACHINE,
        common=True,
    ),
    Option(
        keyword="instance_count",
        place=("ResourceConfig", "InstanceCount"),
        form=Form.NUMBER,
        metavar="N",
        help="Number of instances; each one is a container.",
        default=1,
        head=Head.MACHINE,
        common=True,
    ),
    Option(
        keyword="max_run",
        place=("StoppingCondition", "MaxRuntimeInSeconds"),
        form=Form.NUMBER,
        metavar="SECONDS",
        help="Stop the job after this time (StoppingCondition.MaxRuntimeInSeconds).",
        head=Head.RUN,
    ),
    Option(
        keyword="processes_per_host",
        # The training toolkit reads it for every launcher: MPI, torchrun and data parallelism.
        place=("HyperParameters", "sagemaker_mpi_num_of_processes_per_host"),
        form=Form.NUMBER,
        least=1,
        written=str,
        metavar="N",
        help="Processes that the training toolkit starts on each host.",
        head=Head.MACHINE,
    ),
)


class PlacementSettings(Structure):
    """On which engines the hosts run."""

    Engines: Annotated[list[NotEmpty], Items(minimum=1, maximum=32)] = setting(
        default_factory=list,
        description="Engines for the hosts, each by its address or Docker context. Default: the one that docker uses.",
        option=Option(
            keyword="engines",
            flags=("--engine",),
            form=Form.LIST,
            written=list,
            example='engines=["ssh://HOST", "default"]',
            metavar="ENGINE",
            help="Engine that runs the hosts: an address or a Docker context; repeatable.",
            head=Head.MACHINE,
        ),
    )
    Placement: Annotated[PlacementChoice, Checked(trouble=placement_trouble, schema=PLACEMENT_SCHEMA)] = setting(
        default=SPREAD,
        description="Which host runs on which engine: spread (round robin), or a map with the engine of each host.",
    )
    SpreadOver: Annotated[list[NotEmpty], Items(minimum=0, maximum=32)] = setting(
        default_factory=list,
        description="Engines for whole jobs: each job, and each job of a search or a pipeline, runs on the one "
        "with the most free room for its instance type. If Engines is set too, jobs with several hosts use those.",
        option=Option(
            keyword="spread_over",
            form=Form.LIST,
            written=list,
            example='spread_over=["ssh://HOST", "default"]',
            metavar="ENGINE",
            help="Engine that may run a whole job: an address or a Docker context; repeatable. The one with the most "
            "free room is used.",
            head=Head.MACHINE,
        ),
    )
    EngineInstances: Annotated[int, Whole(minimum=1, maximum=1000)] | None = setting(
        default=None,
        description="Maximum number of instances in use at once on each engine of SpreadOver; further jobs wait.",
        option=Option(
            keyword="engine_instances",
            form=Form.NUMBER,
            least=1,
            metavar="N",
            help="Maximum number of instances in use at once on each engine of --spread-over.",
            head=Head.MACHINE,
        ),
    )


def network_trouble(value: object) -> str | None:
    """The mistake in `Local.Network`."""
    if value == HOST_NETWORK:
        return None
    return f"is {value!r} and must be {HOST_NETWORK}; networks of the engine are joined by Local.Networks (--network)"


HOST_NETWORK: Final = "host"
_NETWORK_SCHEMA: Final = {"const": HOST_NETWORK}


class NetworkSettings(Structure):
    """The network of a job, and the host names and addresses that its hosts see."""

    NetworkRange: NotEmpty = setting(
        default="198.18.0.0/15", description="Address range for the networks of jobs, as ADDRESS/BITS."
    )
    Network: Annotated[str, Checked(trouble=network_trouble, schema=_NETWORK_SCHEMA)] | None = setting(
        default=None,
        description="host: the only host of the job is on the network of the engine's machine, with its addresses and "
        "ports. Default: a network of its own.",
        option=Option(
            keyword="host_network",
            form=Form.SWITCH,
            when_given=HOST_NETWORK,
            help="Run on the network of the engine's machine, as with docker run --network host.",
            head=Head.MACHINE,
        ),
    )
    Networks: Annotated[list[NotEmpty], Items(minimum=0, maximum=8)] = setting(
        default_factory=list,
        description="Networks of the engine that the hosts join beside their own, by name.",
        option=Option(
            keyword="networks",
            flags=("--network",),
            form=Form.LIST,
            written=list,
            example='networks=["compose_default"]',
            metavar="NAME",
            help="Network of the engine that the hosts join beside their own; repeatable.",
            head=Head.MACHINE,
        ),
    )
    AddHosts: Annotated[dict[NotEmpty, NotEmpty], Items()] = setting(
        default_factory=dict,
        description="Addresses of further host names in the containers; host-gateway is this machine.",
        option=Option(
            keyword="add_hosts",
            flags=("--add-host",),
            form=Form.MAP,
            example='add_hosts={"mlflow": "host-gateway"}',
            metavar="NAME=ADDRESS",
            help="Address of a host name in the containers, or host-gateway for this machine; repeatable.",
            head=Head.MACHINE,
        ),
    )
    Endpoints: Annotated[dict[NotEmpty, NotEmpty], Items()] = setting(
        default_factory=dict,
        description="URL of an AWS service, passed to the containers as AWS_ENDPOINT_URL_SERVICE.",
    )
    ResourceConfigKeys: Literal["newest", "without-topology", "three-keys"] = setting(
        default="newest",
        description="Keys of resourceconfig.json: newest, without-topology (jobs of 2022 to 2025) or three-keys "
        "(current_host, hosts, network_interface_name: jobs until 2021).",
        by_clients=True,
    )
    NetworkInterface: Annotated[str, Text(pattern="[a-z][a-z0-9]{0,14}")] = setting(
        default="eth0",
        description="network_interface_name in resourceconfig.json, such as eth1; the interface itself is eth0.",
        by_clients=True,
    )


class ArchiveSettings(Structure):
    """How output is packed."""

    MergeOutput: bool = setting(
        default=False,
        description="Put the output of all hosts into output.tar.gz, not only of algo-1.",
        by_clients=True,
    )


class LimitSettings(Structure):
    """The limits of each container."""

    EnforceInstanceLimits: bool = setting(
        default=False,
        description="Limit containers to the memory, CPUs and volume size of the instance type.",
        option=Option(keyword="enforce_limits", form=Form.SWITCH, head=Head.MACHINE),
        by_clients=True,
    )
    Memory: Annotated[limits.Size, Checked(trouble=limits.memory_trouble, schema=limits.SIZE_SCHEMA)] | None = setting(
        default=None,
        description="Memory of each container, in bytes or such as 512m.",
        option=Option(keyword="memory", metavar="SIZE", head=Head.MACHINE),
        by_clients=True,
    )
    Cpus: Annotated[float, Checked(trouble=limits.cpus_trouble, schema=limits.CPUS_SCHEMA)] | None = setting(
        default=None, description="Processors of each container, such as 1.5.", by_clients=True
    )
    ShmSize: Annotated[limits.Size, Checked(trouble=limits.shared_memory_trouble, schema=limits.SIZE_SCHEMA)] | None = (
        setting(default=None, description="Size of /dev/shm, such as 2g. Default: the engine's, 64m.", by_clients=True)
    )
    Ulimits: Annotated[limits.Ulimits, Checked(trouble=limits.ulimits_trouble, schema=limits.ULIMITS_SCHEMA)] | None = (
        setting(default=None, description="Such as {nofile: 65536} or {nofile: '1024:4096'}. Default: the engine's.")
    )
    Processes: Annotated[int, Whole(minimum=1, maximum=4_194_304)] | None = setting(
        default=None,
        description="Maximum number of processes and threads of each container. Default: the engine's.",
        by_clients=True,
    )


class AcceleratorSettings(Structure):
    """GPUs, and the treatment of an instance type that has devices which this machine lacks."""

    Gpus: Annotated[GpuChoice, Checked(trouble=gpus_trouble, schema=GPUS_SCHEMA)] = setting(
        default="auto",
        description="GPUs: auto (as the instance type), all, none, a number for each host, or a list of ids.",
        option=Option(
            keyword="gpus",
            written=lambda value: read_gpus(value) if isinstance(value, str) else value,
            metavar="GPUS",
            help="GPUs of each host: auto, all, none, a number, or ids such as device=0,2.",
            head=Head.MACHINE,
            common=True,
        ),
        by_clients=True,
    )
    AllowCpu: bool = setting(
        default=False,
        description="Run a GPU or Neuron instance type without them.",
        option=Option(
            keyword="allow_cpu",
            form=Form.SWITCH,
            help="Run a GPU or Neuron instance type without its devices.",
            head=Head.MACHINE,
            common=True,
        ),
        by_clients=True,
    )


class DataParallelSettings(Structure):
    """Whether smdistributed.dataparallel is stood in for."""

    DataParallel: Annotated[DataParallelChoice, Checked(trouble=data_parallel_trouble, schema=DATA_PARALLEL_SCHEMA)] = (
        setting(
            default="auto",
            description="Stand-in for smdistributed.dataparallel: auto (if the request asks for the library), always, "
            "never, strict (with the library's own restrictions), or a block with Mode (plain, balanced) and "
            "FusionBufferBytes.",
        )
    )


class ImageSettings(Structure):
    """How the image gets here."""

    Pull: Literal["missing", "always", "never"] = setting(
        default="missing",
        description="When to pull the image: missing, always or never.",
        option=Option(keyword="pull", help="When to pull the image. Default: missing.", of_run=True, head=Head.RUN),
    )


IMAGE: Final = (
    Option(
        keyword="image",
        place=("AlgorithmSpecification", "TrainingImage"),
        metavar="IMAGE",
        help="Training image.",
        head=Head.JOB,
        common=True,
    ),
    Option(
        keyword="entrypoint",
        place=("AlgorithmSpecification", "ContainerEntrypoint"),
        form=Form.WORDS,
        written=list,
        example='entrypoint=["python", "/opt/ml/code/train.py"]',
        metavar="COMMAND",
        help="Command to start in place of the image's ENTRYPOINT, as one argument: 'python /opt/ml/code/train.py'.",
        head=Head.JOB,
    ),
)


DEBUG_PORT: Final = 5678
"""The port that debuggers of Python, and the settings of editors for them, use."""


class DebugSettings(Structure):
    """Whether the program waits for a debugger."""

    DebugPort: Annotated[int, Whole(minimum=0, maximum=65535)] = setting(
        default=0,
        description="Port of 127.0.0.1 on which the program of the first host waits for a debugger; the next hosts "
        "have the next ports. 0: no program waits.",
        option=Option(
            keyword="wait_for_debugger",
            form=Form.SWITCH,
            when_given=DEBUG_PORT,
            help=f"Have the Python program wait for a debugger on port {DEBUG_PORT} of 127.0.0.1.",
            of_run=True,
            head=Head.RUN,
        ),
    )


class KeepSettings(Structure):
    """The parts that stay after the end."""

    Keep: Literal["failed", "all", "none"] = setting(
        default="none",
        description="Which ended jobs keep their containers and folders: failed ones, all, none.",
        option=Option(
            keyword="keep",
            help="Keep the containers and folders of failed jobs, or of all. Default: none.",
            of_run=True,
            head=Head.RUN,
            common=True,
        ),
    )
