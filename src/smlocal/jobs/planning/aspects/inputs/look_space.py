"""Whether the data of a job fits on the disk of this machine, checked before the job is made."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes
from smlocal.data.channels.copy import UNSURE_SIZES, file_system_at
from smlocal.errors.of_jobs import DiskTooSmallError
from smlocal.jobs.planning.model import JobPlan, Note

_SHARES_COPIES = "xfs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """Data that is written to the disk of this machine before the containers start."""

    name: str
    bytes: int
    downloaded: bool
    """False for a copy of what is on this machine."""


def check_space(plan: JobPlan, home: str) -> None:
    """Refuse data that is larger than the free space, where its size is known."""
    data, free = [*_brought(plan)], free_bytes(home)
    # A file system that reports no free space may not know sizes. A full disk is found earlier.
    if not free or _sum(data) <= free or (kind := file_system_at(home)) in UNSURE_SIZES:
        return
    if kind == _SHARES_COPIES:
        data = [each for each in data if each.downloaded]
    # At best, all that the cache holds makes room, or is what the job needs.
    if _sum(data) <= free + (_bytes_held(home) if plan.inputs.cache_bytes else 0):
        return
    remote = any(each.downloaded for each in data)
    raise DiskTooSmallError(
        f"the data of the job has {readable_bytes(_sum(data))}, and {readable_bytes(free)} are free at {home}",
        details=[
            f"{each.name}: {readable_bytes(each.bytes)} to be {'downloaded' if each.downloaded else 'copied'}"
            for each in data
        ],
        remedy=[
            "Free some space there:  smlocal rm, smlocal cache rm",
            "set SMLOCAL_HOME to a folder on a larger disk",
            "use a part of the data: Local.Sample" + ("; or stream it: InputMode: FastFile" if remote else ""),
        ],
    )


def with_warning(plan: JobPlan, home: str) -> JobPlan:
    """The plan of a job that is not run now, with a note if that data is too large."""
    try:
        check_space(plan, home)
    except DiskTooSmallError as error:
        note = Note(id="disk-too-small", text=f"smlocal run is refused: {error.sentence}", warning=True)
        return replace(plan, notes=(note, *plan.notes))
    return plan


def _brought(plan: JobPlan) -> Iterator[Brought]:
    """What is downloaded, once for all that may read the same, and what is copied for each host."""
    code = plan.inputs.code
    trees = [tree for host in plan.hosts for tree in (*host.inputs.trees, *(() if code is None else (code,)))]
    written = [
        (tree.listing.total_bytes, tree)
        for tree in trees
        if tree.listing.total_bytes is not None and not tree.as_it_is and tree.staging != "fuse"
    ]
    downloaded: list[tuple[str, str]] = []
    for size, tree in sorted(written, key=lambda each: -each[0]):
        bucket, prefix = tree.listing.bucket_uri, tree.listing.prefix
        if tree.listing.remote and not any(
            bucket == other and (prefix.startswith(known) or known.startswith(prefix)) for other, known in downloaded
        ):
            downloaded.append((bucket, prefix))
            yield Brought(name=tree.name, bytes=size, downloaded=True)
        if tree.staging == "copy":
            yield Brought(name=tree.name, bytes=size, downloaded=False)


def _sum(data: Sequence[Brought]) -> int:
    return sum(each.bytes for each in data)


def _bytes_held(home: str) -> int:
    from smlocal.data.channels.cache.eviction import bytes_held  # only for data that is too large
    from smlocal.data.channels.cache.folder import Cache

    return bytes_held(Cache(home=home))
