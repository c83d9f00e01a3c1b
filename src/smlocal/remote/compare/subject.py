"""One of two jobs that are compared: everything that is known of it."""

from collections.abc import Mapping
from typing import Any

from smlocal.quick_dataclass import dataclass
from smlocal.remote.compare.archives import Archive
from smlocal.remote.compare.request_members import request_members
from smlocal.remote.job_end import JobEnd, end_of

NAMES = ("model.tar.gz", "output.tar.gz")


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
    )


def _figures(host: Mapping[str, Any]) -> dict[str, float]:
    names = ("MemoryPeakMiB", "CpuPeak", "GpuPeakPercent", "GpuMemoryPeakMiB")
    return {name: host[name] for name in names if host.get(name) is not None}
