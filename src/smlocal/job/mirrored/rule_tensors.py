"""Where the debugger rules of a job find its tensors."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smlocal.planning.collectors import CollectorPlan
    from smlocal.planning.model import JobPlan

OWN_FOLDER = "tensors"
"""In the folder of a job, and only where rules need one."""


def prepare_rule_tensors(plan: "JobPlan") -> None:
    """Make a folder of the job's own if its tensors go to S3, or to a folder in which an earlier job left some."""
    collector = _collector(plan)
    if collector is not None and (collector.s3_prefix is not None or _has_files(collector.directory)):
        os.makedirs(_own_folder(plan), exist_ok=True)


def own_rule_tensors(plan: "JobPlan") -> "tuple[CollectorPlan, str] | None":
    """The collector of tensors and the folder of the job's own, if there is one."""
    collector = _collector(plan) if plan.rules else None
    return (collector, _own_folder(plan)) if collector is not None and os.path.isdir(_own_folder(plan)) else None


def rule_tensors(plan: "JobPlan") -> str | None:
    """The folder that rules read; None if the job saves no tensors."""
    own, collector = own_rule_tensors(plan), _collector(plan)
    if own is not None:
        return own[1]
    return None if collector is None else collector.directory


def _collector(plan: "JobPlan") -> "CollectorPlan | None":
    return next((each for each in plan.collectors if each.end_marker is not None), None)


def _own_folder(plan: "JobPlan") -> str:
    return f"{plan.job_directory}/{OWN_FOLDER}"


def _has_files(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except FileNotFoundError:
        return False
    except OSError:
        return True
