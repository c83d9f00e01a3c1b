"""The class of the rules that make notes."""

from collections.abc import Callable

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.jobfile.job_file import JobFile

_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteRule:
    """Makes one note: a sentence if it applies to a job, else None."""

    id: str
    says: Callable[[JobPlan, JobFile], str | None]
    warning: bool = False


def some(items: list[str]) -> str:
    """The first few different items, and the number of the others."""
    different = list(dict.fromkeys(items))
    more = len(different) - _SHOWN
    return ", ".join(different[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
