"""Where the tensors of a job can be read, by its recorded plan."""

import os
from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.mirrored.folders import OWN_FOLDER

DEBUG_HOOK = "DebugHookConfig"


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorPlace:
    """A local folder, which need not exist."""

    folder: str
    s3_prefix: str | None
    """Where they are published, if they are. The folder then has what S3 did not take."""


def tensor_place(plan: Mapping[str, Any], job_directory: str) -> TensorPlace | None:
    """None if the job saves no tensors. `plan` is its document."""
    for each in plan.get("Collectors", ()):
        if each["Member"] == DEBUG_HOOK:
            own = f"{job_directory}/{OWN_FOLDER}"  # as long as rules of the job read it
            folder = own if os.path.isdir(own) else each["Directory"]
            return TensorPlace(folder=folder, s3_prefix=each["Published"])
    return None
