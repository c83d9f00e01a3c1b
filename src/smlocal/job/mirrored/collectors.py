"""Folders for TensorBoard and the debugger, and their mounts."""

import os

from smlocal.engine.interface import Mount
from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.host_folders import collector_directory
from smlocal.planning.model import HostPlan, JobPlan


def make_collectors(plan: JobPlan, host: HostPlan) -> None:
    """Make the folders with their own mounts, empty. The others are made with the folders that they are in."""
    for collector in _own_mounts(plan):
        folder = collector_directory(plan, host, collector)
        os.mkdir(folder)
        os.chmod(folder, 0o755)  # noqa: S103 - as on the service, whatever the umask


def collector_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The mounts for collectors."""
    return tuple(
        Mount(source=collector_directory(plan, host, each), target=each.local_path) for each in _own_mounts(plan)
    )


def _own_mounts(plan: JobPlan) -> list[CollectorPlan]:
    return [each for each in plan.collectors if each.own_mount]
