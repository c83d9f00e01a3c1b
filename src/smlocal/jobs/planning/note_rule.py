"""Rules that make notes, and the notes of those that apply to a job."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.masking import without_passwords

_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteRule:
    """Makes one note: a sentence if it applies to a job, else None."""

    id: str
    says: Callable[[JobPlan, Workload], str | None]
    warning: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RareRules:
    """The rules of an aspect that few jobs have: imported and applied only if `when` is true."""

    when: Callable[[JobPlan, Workload], Any]
    rules: Iterable[NoteRule]


def notes_of(
    rules: Iterable[NoteRule | RareRules], plan: JobPlan, work: Workload, own: Iterable[tuple[str, str]] = ()
) -> tuple[Note, ...]:
    """The notes of the rules that apply, and the kind's own ones (ids and texts); warnings first."""
    found = [(rule.id, rule.says(plan, work), rule.warning) for rule in _applicable(rules, plan, work)]
    found += [(name, text, False) for name, text in own]
    applying = [Note(id=name, text=without_passwords(text), warning=warning) for name, text, warning in found if text]
    return tuple(sorted(applying, key=lambda note: not note.warning))


def _applicable(rules: Iterable[NoteRule | RareRules], plan: JobPlan, work: Workload) -> Iterator[NoteRule]:
    for each in rules:
        if isinstance(each, NoteRule):
            yield each
        elif each.when(plan, work):
            yield from each.rules


def some(items: list[str]) -> str:
    """The first few different items, and the number of the others."""
    different = list(dict.fromkeys(items))
    more = len(different) - _SHOWN
    return ", ".join(different[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
