"""What a plan needs to know about this machine."""

from collections.abc import Mapping

from smlocal.planning.facts import EngineFacts, ImageFacts, MachineFacts
from smlocal.platforms.ai_platform.locations import BucketFolder
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Everything about this machine that decides how a request is run."""

    engine: EngineFacts
    machine: MachineFacts
    images: Mapping[str, ImageFacts | None]
    """By name; None for those that are not on the engine."""
    buckets: tuple[BucketFolder, ...]
    output: str
    """The absolute local folder for what the job writes."""
    region: str
    run_id: str
    job_directory: str
    subnet: str = ""
    """A free subnet for the job's own network, if it needs one."""
