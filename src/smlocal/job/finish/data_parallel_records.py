"""Read what the processes of a job recorded about data parallelism."""

import os
from collections.abc import Iterable
from typing import Any

from smlocal.artifacts.engine_copy import read_or_copy
from smlocal.artifacts.tree import HostTree
from smlocal.distributed.byte_counts import LONGEST_RECORD, MOST_RECORDS, data_parallel_block, read_record
from smlocal.distributed.mounts import RECORDS
from smlocal.errors import ArtifactError
from smlocal.job.host.host_run import HostRun
from smlocal.planning.host_folders import records_directory
from smlocal.planning.model import JobPlan


def data_parallel_records(plan: JobPlan, runs: Iterable[HostRun]) -> dict[str, Any]:
    """The block `Local.DataParallel`."""
    found = []
    for run in runs:
        if run.container.id:
            found += _records(plan, run)
    return data_parallel_block(found)


def _records(plan: JobPlan, run: HostRun) -> list[dict[str, Any]]:
    try:
        tree = read_or_copy(
            run.name,
            records_directory(plan, run.host),
            engine=run.engine,
            container=run.container.id,
            path=RECORDS,
            copy_to=f"{plan.job_directory}/staged/{run.name}-data-parallel-records",
            shared=plan.engine.shares_folders,
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
