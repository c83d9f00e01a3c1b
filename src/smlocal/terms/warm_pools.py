"""Warm pools: what an ended job keeps, for some time, for the next job that is like it.

Nothing runs for a pool. Its state follows from the document of its job and the time, so no crash leaves one behind.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from smlocal.base.quick_dataclass import dataclass

LONGEST: Final = 28 * 24 * 3600
"""A pool that goes from job to job ends after so many seconds."""
POOLS: Final = "warm-pools"
"""The folder in the home with those of the pools."""
# Members of the document.
FOLDER, LIKE, SECONDS, SINCE, KEPT, OVER, REUSED_BY = "Folder", "Like", "Seconds", "Since", "Kept", "Over", "ReusedBy"


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolState:
    """What has become of a pool for one of its jobs."""

    status: Literal["InUse", "Available", "Reused", "Terminated"]
    retained: int | None = None
    """Whole seconds for which it was kept after the job; None until that is over."""
    reused_by: str | None = None
    """The job that it went to."""
    expired: bool = False
    """Its time was over, and nobody ended it."""


def pool_state(document: Mapping[str, Any], *, ended: float | None, now: float) -> PoolState:
    """The state at this time. `ended`: when the job has ended; None if it has not."""
    if ended is None:
        return PoolState(status="InUse")
    if not document.get(KEPT):
        return PoolState(status="Terminated", retained=0)
    over = document.get(OVER)
    if over is None:
        until = min(ended + document[SECONDS], document[SINCE] + LONGEST)
        if now < until:
            return PoolState(status="Available")
        return PoolState(status="Terminated", retained=max(0, int(until - ended)), expired=True)
    retained = max(0, int(over - ended))
    reused_by = document.get(REUSED_BY)
    if reused_by is None:
        return PoolState(status="Terminated", retained=retained)
    return PoolState(status="Reused", retained=retained, reused_by=job_of(reused_by))


def folder_name(name: str, run_id: str) -> str:
    """The folder of a pool while this job has it. No name of such a job has a dot."""
    return f"{name}.{run_id}"


def job_of(folder: str) -> str:
    """The name of the job in the name of the folder."""
    return folder.partition(".")[0]
