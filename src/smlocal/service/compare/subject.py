"""One of two jobs that are compared: all known facts, its artifacts and the members of its request."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from smlocal.base.foreign_archive.archive import ForeignArchive
from smlocal.base.foreign_archive.stream import ArchiveError, opened, pieces_of
from smlocal.base.quick_dataclass import dataclass
from smlocal.service.job_end import NO_LOG, JobEnd, Phase, end_of
from smlocal.terms.compared_job import ComparedEnd, ComparedJob

ARTIFACT_NAMES = ("model.tar.gz", "output.tar.gz")


TRAINING_JOB = "training job"
_IN_FOLDERS = "the output of such jobs is in folders, which are not read"


_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """One file in an artifact."""

    size: int | None
    """None if it is not a regular file."""
    digest: str | None
    """The first digits of its SHA-256, or `→ target` of a link; None if it was not read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """`model.tar.gz` or `output.tar.gz`, or the folder in place of one."""

    place: str
    size: int | None
    """The size of the archive itself. It contains times, so it may differ for the same files."""
    files: Mapping[str, File] | None
    """By path; None if it was not read."""
    trouble: str | None = None
    """Why it could not be read."""


def read_archive(path: str) -> Archive:
    """Read an archive or a folder of this machine."""
    try:
        if os.path.isdir(path):
            files = dict(_of_folder(path))
            return Archive(place=path, size=None, files=files)
        with opened(path) as file:
            return read_stream(file, place=path, size=os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        return Archive(place=path, size=None, files=None, trouble="it is no longer there")
    except ArchiveError as error:
        return Archive(place=path, size=None, files=None, trouble=str(error))
    except OSError as error:
        return Archive(place=path, size=None, files=None, trouble=f"it cannot be read: {error.strerror or error}")


def read_stream(stream: IO[bytes], *, place: str, size: int | None) -> Archive:
    """Read an archive as it comes."""
    try:
        files = dict(_of_archive(ForeignArchive(pieces_of(stream))))
    except (ArchiveError, OSError) as error:
        return Archive(place=place, size=size, files=None, trouble=f"it cannot be read: {error}")
    return Archive(place=place, size=size, files=files)


def _of_archive(archive: ForeignArchive) -> Iterator[tuple[str, File]]:
    """The files; folders have nothing that could differ but their names, which those of their files have."""
    for entry in archive:
        name = entry.name.removeprefix("./")
        if entry.kind == "file":
            yield name, File(size=entry.size, digest=_digest(archive.content()))
        elif entry.kind != "folder":
            yield name, File(size=None, digest=f"→ {entry.link}")


def _of_folder(top: str) -> Iterator[tuple[str, File]]:
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = os.path.join(folder, name)
            short = os.path.relpath(path, top)
            if os.path.islink(path):
                yield short, File(size=None, digest=f"→ {os.readlink(path)}")
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    yield short, File(size=os.fstat(file.fileno()).st_size, digest=_digest(pieces_of(file)))


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:_DIGITS]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobToCompare:
    """A job."""

    title: str
    """As it was named."""
    origin: str
    """Where it is known from: `here`, `the service`, `a document`."""
    members: Mapping[str, Any]
    """Path to value of its request."""
    image_id: str | None
    """The id of the image on the engine of this machine."""
    end: JobEnd | None
    """None for a request."""
    seconds: int | None
    """TrainingTimeInSeconds."""
    usage: Mapping[str, Mapping[str, float]]
    """By host; empty if it is not known."""
    archives: Mapping[str, Archive | None]
    """By name; None for one that was not written. Empty if nothing is known of them."""
    no_archives: str = ""
    """Why nothing is known of them."""
    no_usage: str = ""
    """Why `usage` could not be read."""
    kind: str = TRAINING_JOB
    """The word for such a job in sentences."""
    status_member: str = "TrainingJobStatus"
    reason_member: str = "FailureReason"
    ended: bool = False
    exits: Mapping[str, Any] | None = None
    """For a job of replicas: how each one ended; None if that is not known."""


def subject_of(
    answer: Mapping[str, Any],
    request: Mapping[str, Any],
    *,
    title: str,
    origin: str,
    archives: Mapping[str, Archive | None],
    no_archives: str = "",
) -> JobToCompare:
    """The job of a describe answer. An answer without a status is a request."""
    local = answer.get("Local") or {}
    return JobToCompare(
        title=title,
        origin=origin,
        members=request_members(request),
        image_id=local.get("Image"),
        end=end_of(answer) if answer.get("TrainingJobStatus") else None,
        seconds=answer.get("TrainingTimeInSeconds"),
        usage={host["Name"]: _figures(host) for host in (local.get("Usage") or {}).get("Hosts") or ()},
        archives=archives,
        no_archives=no_archives,
        ended=end_of(answer).ended,
    )


def subject_of_replicas(job: "ComparedJob", *, title: str, origin: str, image_id: str | None) -> JobToCompare:
    """A job of another platform, from its own description."""
    end = job.end
    known: dict[str, Any] = {"kind": job.kind, "status_member": job.state_member}
    if end is not None:
        known |= {"reason_member": end.reason_member, "ended": end.ended, "exits": end.replicas}
    return JobToCompare(
        title=title,
        origin=origin,
        members=request_members(job.request),
        image_id=image_id,
        end=None if end is None else _end_of_replicas(job.name, end),
        seconds=None,
        usage={},
        archives={},
        no_archives=_IN_FOLDERS,
        **known,
    )


def _figures(host: Mapping[str, Any]) -> dict[str, float]:
    names = ("MemoryPeakMiB", "CpuPeak", "GpuPeakPercent", "GpuMemoryPeakMiB")
    return {name: host[name] for name in names if host.get(name) is not None}


def _end_of_replicas(name: str, end: "ComparedEnd") -> JobEnd:
    return JobEnd(
        name=name,
        status=end.state,
        secondary=end.state,
        reason=end.reason,
        exit_code=None,
        host="",
        phases=[] if end.running is None else [Phase(status=end.running[0], seconds=end.running[1])],
        metrics={},
        log=NO_LOG,
    )


IMAGE = "AlgorithmSpecification.TrainingImage"
ENVIRONMENT = "Environment."
_CHOSEN = (ENVIRONMENT, "HyperParameters.")
"""Maps of the user, in which an empty text is a value."""
_OWN = ("TrainingJobName",)
"""Different for any two jobs."""
_KEYS = ("ChannelName", "Name", "Key", "RuleConfigurationName", "InstanceGroupName", "name")
"""The members that name an element of a list."""


_DEFAULTS: Mapping[str, Any] = {
    "InputDataConfig[].CompressionType": "None",
    "InputDataConfig[].RecordWrapperType": "None",
    "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType": "FullyReplicated",
    "OutputDataConfig.CompressionType": "GZIP",
    "ResourceConfig.VolumeSizeInGB": 0,
    "StoppingCondition.MaxRuntimeInSeconds": 86_400,
}
"""Members that an answer may add to the request: the same as nothing."""
_NO_DEFAULT = object()
_NOTHING: tuple[Any, ...] = (False, "", None, [], {}, ())


def request_members(request: Mapping[str, Any]) -> dict[str, Any]:
    """Path to value, such as `InputDataConfig[train].InputMode`, without values that mean the same as none."""
    return {
        path: value
        for path, value in _leaves(request, "")
        if path not in _OWN
        and (path.startswith(_CHOSEN) or value not in _NOTHING)
        and value != _DEFAULTS.get(re.sub(r"\[[^]]*\]", "[]", path), _NO_DEFAULT)
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        for name, item in zip(_names(value), value, strict=True):
            yield from _leaves(item, f"{path}[{name}]")
    else:
        yield path, value


def _names(items: Sequence[Any]) -> list[str]:
    """Names for the elements of a list: members that identify them if these are all different, else their positions."""
    for key in _KEYS:
        names = [str(item[key]) for item in items if isinstance(item, Mapping) and key in item]
        if len(names) == len(items) == len({*names}):
            return names
    return [str(index) for index in range(len(items))]
