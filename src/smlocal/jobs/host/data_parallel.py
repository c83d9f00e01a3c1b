"""The stand-in for the data parallel library in a job: its folders on each host, and the records of its ranks.

Only jobs that ask for the library import this.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from smlocal.data.artifacts.model_folder import read_or_copy
from smlocal.data.artifacts.tree import HostTree
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError
from smlocal.jobs.data_parallel.package import make_records_folder, write_package
from smlocal.jobs.planning.aspects.data_parallel.plan import PACKAGE, RECORDS, DataParallelPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, data_parallel_directory, records_directory

MOST_RECORDS: Final = 4096
LONGEST_RECORD: Final = 1 << 18
"""In bytes."""
_NEVER: Final = 1e12
"""Seconds since 1970; no time of a real run."""
_Record = Mapping[str, Any]


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


def read_record(content: bytes) -> _Record | None:
    """The record in a file; None if it is none."""
    try:
        record = json.loads(content)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.get("Library") in {"stand-in", "image"} else None


def data_parallel_block(found: Iterable[_Record]) -> dict[str, Any]:
    """The library that was used, by how many ranks, and the counts. `Library` is None if no process used one.

    Without ranks, the process group was not started.
    """
    records = list(found)
    of_image = next((record for record in records if record["Library"] == "image"), None)
    if of_image is not None:
        return {"Library": "image", "Folder": str(of_image.get("Folder"))}
    ranks = {record["Rank"]: record for record in records if _is_count(record.get("Rank"))}
    if not records:
        return {"Library": None}
    first = ranks[min(ranks)] if ranks else records[0]
    block = {
        "Library": "stand-in",
        **{name: str(first.get(name)) for name in ("Mode", "Backend", _framework(first), "Python")},
        "WorldSize": _count(first, "WorldSize"),
        "Ranks": len(ranks),
    }
    if ranks and first.get("Mode") == "balanced":
        block["Balanced"] = _balanced([ranks[rank] for rank in sorted(ranks)])
    return block


def _balanced(ranks: Sequence[_Record]) -> dict[str, Any]:
    """Bytes by server, which is the rank of the same number; those of single variables as rank 0 placed them."""
    first = ranks[0]
    variables = first.get("VariableBytes")
    last = [_mapping(rank.get("LastIteration")) for rank in ranks]
    return {
        "Buffers": _count(first, "Buffers"),
        "Iterations": _count(first, "Iterations"),
        "ServerBytes": [_count(rank, "ServedBytes") for rank in ranks],
        "IterationBytes": {
            "Balanced": [_count(each, "ServedBytes") for each in last],
            "WholeVariables": [each for each in variables if _is_count(each)] if isinstance(variables, list) else [],
        },
        "LastIteration": _iteration(last[0]),
    }


def _iteration(last: _Record) -> dict[str, Any] | None:
    """Times of the buffers of rank 0, in seconds since the forward pass ended, and how many reductions overlapped."""
    began, buffers = last.get("Began"), last.get("Buffers")
    if not _is_time(began) or not isinstance(buffers, list):
        return None
    times = [
        {
            "Bytes": each["Bytes"],
            **{name: round(each[name] - began, 6) for name in ("Ready", "Begin", "End")},
        }
        for each in buffers
        if isinstance(each, dict)
        and _is_count(each.get("Bytes"))
        and all(_is_time(each.get(name)) for name in ("Ready", "Begin", "End"))
    ]
    overlapping = sum(one["Begin"] < following["Ready"] for one, following in pairwise(times))
    return {"Buffers": times, "BegunBeforeTheNextWasReady": overlapping}


def _framework(record: _Record) -> str:
    return "TensorFlow" if "TensorFlow" in record else "PyTorch"


def _mapping(value: Any) -> _Record:
    return value if isinstance(value, dict) else {}


def _count(record: _Record, name: str) -> int:
    value = record.get(name)
    return int(value or 0) if _is_count(value) else 0


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_time(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) < _NEVER  # neither NaN nor infinite
