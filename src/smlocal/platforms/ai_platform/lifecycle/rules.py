"""What a job says about its lifecycle."""

from smlocal.platforms.ai_platform.lifecycle.messages import OTHER_REGION_OR_ACCELERATOR
from smlocal.quick_dataclass import dataclass

SEVEN_DAYS = 604_800.0
GRACE = 30.0
"""Seconds between SIGTERM and SIGKILL, as Kubernetes has them. The service does not say how many it gives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replica:
    """One machine of a job."""

    name: str
    """As the service's messages have it: `master 0`, `workerpool0-0`."""
    primary: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The limits and choices of one job. Times are in seconds."""

    region: str
    max_running: float | None = SEVEN_DAYS
    """From the moment at which all replicas are available for the first time."""
    max_wait: float | None = None
    """Until that moment."""
    restart_job_on_worker_restart: bool = False
    disable_retries: bool = False
    """Internal errors of a job that was RUNNING end it."""
    grace: float = GRACE
    """Between SIGTERM and SIGKILL."""
    kill_timeout: float = 60.0
    """A container that has not ended so long after SIGKILL counts as lost."""
    stock_out_advice: str = OTHER_REGION_OR_ACCELERATOR

    @property
    def restarts_job(self) -> bool:
        """True if the whole job starts again when one replica has to."""
        return self.restart_job_on_worker_restart and not self.disable_retries
