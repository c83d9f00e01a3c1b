"""The faults of `Local.Faults` that happen while a job runs."""

from collections.abc import Sequence
from typing import Final

from smlocal.jobfile.settings import Fault
from smlocal.planning.model import FaultPlan

_KINDS: Final = {
    "Interrupt": "interrupt",
    "InternalError": "internal-error",
    "StockOut": "stock-out",
    "Maintenance": "maintenance",
}


def planned_faults(faults: Sequence[Fault], *, primary: str = "") -> tuple[FaultPlan, ...]:
    """Those that a supervisor brings about. `primary`: the host whose machine is maintained if the fault names none."""
    return tuple(
        FaultPlan(
            kind=_KINDS[fault.Kind],
            when="Before" if fault.Kind == "StockOut" else fault.When,
            after=fault.AfterSeconds,
            times=fault.Times,
            host=(fault.Replica or primary) if fault.Kind == "Maintenance" else "",
        )
        for fault in faults
        if fault.Kind in _KINDS
    )
