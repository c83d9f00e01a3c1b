"""Where the folders of a host are on this machine."""

from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.model import HostPlan, JobPlan


def host_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine that contains the mounted folders of one host."""
    return f"{plan.job_directory}/hosts/{host.host.name}"


def checkpoint_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with the checkpoints of one host."""
    checkpoints = plan.checkpoints
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


def records_directory(plan: JobPlan, host: HostPlan) -> str:
    """The folder on this machine with what the processes of a host record about data parallelism."""
    return f"{host_directory(plan, host)}/data-parallel-records"
