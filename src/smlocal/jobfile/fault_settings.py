"""What is wrong with `Local.Faults`: a platform says which faults it has, and this is what all of them share."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from smlocal.contract.validation.member_path import spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import Fault

Wrong = Iterator[tuple[str, str]]
"""Members of a fault, and what is wrong with them."""
_FAULTS: Final = "Faults"


def fault_violations(
    faults: Sequence[Fault], *, kinds: Sequence[str], wrong: Callable[[Fault], Wrong]
) -> list[Violation]:
    """What is wrong with the faults of a job.

    `kinds`: those of the platform. `wrong`: what the platform says about one of these.
    """
    return [
        Violation(path=(LOCAL, _FAULTS, index, member), text=f"{spoken((LOCAL, _FAULTS, index, member))}: {text}")
        for index, fault in enumerate(faults)
        for member, text in _of_one(fault, kinds, wrong)
    ]


def wrong_time(fault: Fault, *, longest: int, limit: str) -> Wrong:
    """`AfterSeconds` without an effect. `longest`: seconds that the job may run; `limit`: where it says so."""
    if fault.When != "During":
        if fault.AfterSeconds:
            yield "AfterSeconds", f"counts seconds of training and has no effect with When: {fault.When}; remove it"
    elif fault.AfterSeconds >= longest:
        yield "AfterSeconds", f"must be less than {limit} ({longest} s), when training is stopped"


def _of_one(fault: Fault, kinds: Sequence[str], wrong: Callable[[Fault], Wrong]) -> Wrong:
    if fault.Kind not in kinds:
        *others, last = kinds
        yield "Kind", f"this platform has no {fault.Kind}; its faults are {', '.join(others)} and {last}"
        return
    if fault.Replica is not None and fault.Kind != "Maintenance":
        yield "Replica", "is for Maintenance only; remove it"
    yield from wrong(fault)
