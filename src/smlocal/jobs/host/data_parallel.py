"""The stand-in for the data parallel library in a job: its folders on each host, and the records of its ranks.

Only jobs that ask for the library import this.
"""

import os
from collections.abc import Iterable
from typing import Any

from smlocal.data.artifacts.engine_copy import read_or_copy
from smlocal.data.artifacts.tree import HostTree
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError
from smlocal.jobs.data_parallel.byte_counts import LONGEST_RECORD, MOST_RECORDS, data_parallel_block, read_record
from smlocal.jobs.data_parallel.mounts import PACKAGE, RECORDS
from smlocal.jobs.data_parallel.package import make_records_folder, write_package
from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, data_parallel_directory, records_directory

WRITTEN_BY_ALL = RECORDS
"""The folder in which processes of any user write."""


def write_data_parallel(library: DataParallelPlan, plan: JobPlan, host: HostPlan) -> None:
    """Write the library for one host, and make the folder for its records."""
    write_package(library, data_parallel_directory(plan, host))
    make_records_folder(records_directory(plan, host))


def data_parallel_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The mounts of both."""
    return (
        Mount(source=data_parallel_directory(plan, host), target=PACKAGE, read_only=True),
        Mount(source=records_directory(plan, host), target=RECORDS),
    )


def data_parallel_records(plan: JobPlan, hosts: Iterable[tuple[HostPlan, str, Engine]]) -> dict[str, Any]:
    """The block `Local.DataParallel`, of hosts that are each given with its container and engine."""
    found = []
    for each in hosts:
        found += _records(plan, *each)
    return data_parallel_block(found)


def _records(plan: JobPlan, host: HostPlan, container: str, engine: Engine) -> list[dict[str, Any]]:
    try:
        tree = read_or_copy(
            host.host.name,
            records_directory(plan, host),
            engine=engine,
            container=container,
            path=RECORDS,
            copy_to=f"{plan.job_directory}/staged/{host.host.name}-data-parallel-records",
            shared=plan.engines.first.shares_folders,
        )
        contents = [_content(tree, index) for index in range(min(len(tree.entries), MOST_RECORDS))]
    except (ArtifactError, OSError):  # the container did something to the folder: there is nothing to report
        return []
    return [dict(record) for content in contents if (record := read_record(content)) is not None]


def _content(tree: HostTree, index: int) -> bytes:
    entry = tree.entries[index]
    if not entry.is_file or entry.size > LONGEST_RECORD:
        return b""
    descriptor = tree.open(entry)
    try:
        return os.read(descriptor, LONGEST_RECORD)
    finally:
        os.close(descriptor)
