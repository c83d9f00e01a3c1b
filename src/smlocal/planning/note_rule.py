"""What a note is made by, and what the rules of notes share."""

from collections.abc import Callable

from smlocal.jobfile.job_file import JobFile
from smlocal.planning.model import JobPlan, PipePlan, TreePlan
from smlocal.quick_dataclass import dataclass

_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteRule:
    """One possible note: the sentence when it applies, None when it does not."""

    id: str
    says: Callable[[JobPlan, JobFile], str | None]
    warning: bool = False


def inputs(plan: JobPlan) -> tuple[TreePlan | PipePlan, ...]:
    """Every channel that reads objects."""
    return (*(tree for tree in plan.trees if tree.mode != "FileSystem"), *plan.pipes)


def some(items: list[str]) -> str:
    """The first few of many, each once, in one line."""
    different = list(dict.fromkeys(items))
    more = len(different) - _SHOWN
    return ", ".join(different[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
