"""What the containers of a job wrote and nobody could pack: kept in the job's folder until it is packed or removed."""

import os

from smlocal.artifacts.tree import HostTree
from smlocal.artifacts.unpacked import INDEX, kept_tree, move
from smlocal.contract import paths
from smlocal.errors import ArtifactError
from smlocal.planning.document import host_directory
from smlocal.planning.model import HostPlan, JobPlan

_PACKED = (paths.MODEL, paths.OUTPUT_DATA)


def kept_directory(plan: JobPlan) -> str:
    """Where it is kept."""
    return f"{plan.job_directory}/kept"


def spool(plan: JobPlan, host: str, path: str) -> str:
    """Where a folder of a host is brought to through the engine, if it cannot be read in its place."""
    return f"{plan.job_directory}/staged/{host}{_below(path).replace('/', '-')}"


def keep(plan: JobPlan) -> list[str]:
    """Move what is to be kept out of the way of the clean-up; returns what could not be kept, in words.

    Harmless when done twice, also by another process.
    """
    lost = []
    for host in plan.hosts:
        for path in _PACKED:
            brought = spool(plan, host.host.name, path)
            source = brought if os.path.exists(brought + INDEX) else host_directory(plan, host) + _below(path)
            try:
                move(source, _kept(plan, host, path))
            except (ArtifactError, OSError) as error:
                lost.append(f"what {host.host.name} wrote to {path} could not be kept: {error}")
    return lost


def kept_trees(plan: JobPlan, path: str) -> list[HostTree]:
    """What was kept of a folder of every host, in their order."""
    return [kept_tree(host.host.name, _kept(plan, host, path)) for host in plan.hosts]


def _kept(plan: JobPlan, host: HostPlan, path: str) -> str:
    return f"{kept_directory(plan)}/{host.host.name}{_below(path)}"


def _below(path: str) -> str:
    return path.removeprefix(paths.ROOT)
