"""One of two jobs that are compared: everything that is known of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smlocal.quick_dataclass import dataclass
from smlocal.remote.compare.archives import Archive
from smlocal.remote.compare.request_members import request_members
from smlocal.remote.job_end import NO_LOG, JobEnd, Phase, end_of

if TYPE_CHECKING:
    from smlocal.contract.compared_job import ComparedEnd, ComparedJob

NAMES = ("model.tar.gz", "output.tar.gz")


TRAINING_JOB = "training job"
_IN_FOLDERS = "the output of such jobs is in folders, which are not read"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
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
    """What sentences call such a job."""
    status_member: str = "TrainingJobStatus"
    reason_member: str = "FailureReason"
    ended: bool = False
    exits: Mapping[str, Any] | None = None
    """Of a job of replicas: how each one ended; None if that is not known."""


def subject_of(
    answer: Mapping[str, Any],
    request: Mapping[str, Any],
    *,
    title: str,
    origin: str,
    archives: Mapping[str, Archive | None],
    no_archives: str = "",
) -> Subject:
    """The job of a describe answer. An answer without a status is a request."""
    local = answer.get("Local") or {}
    return Subject(
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


def subject_of_replicas(job: "ComparedJob", *, title: str, origin: str, image_id: str | None) -> Subject:
    """A job of another platform, by what that says of it."""
    end = job.end
    known: dict[str, Any] = {"kind": job.kind, "status_member": job.state_member}
    if end is not None:
        known |= {"reason_member": end.reason_member, "ended": end.ended, "exits": end.replicas}
    return Subject(
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
