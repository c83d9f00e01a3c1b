"""The faults of `Local.Faults` that happen while a job runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from smlocal.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.jobfile.settings import Fault

_KINDS: Final = {
    "Interrupt": "interrupt",
    "InternalError": "internal-error",
    "StockOut": "stock-out",
    "CapacityError": "stock-out",
    "Maintenance": "maintenance",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultPlan:
    """A fault to simulate, from `Local.Faults`."""

    kind: str
    """`interrupt`, `internal-error`, `stock-out` (no machines for the hosts) or `maintenance` (of a host's machine)."""
    when: str
    """`Before`, `During` or `After` training."""
    after: int
    """Seconds of training."""
    times: int
    host: str = ""
    """The host whose machine is maintained."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultsPlan:
    """The faults of `Local.Faults`."""

    each: tuple[FaultPlan, ...] = ()
    """Those that end an attempt."""
    names_after: int = 0
    """Seconds after the start for which hosts cannot resolve the names of their peers."""
    fifos_after: int = 0
    """Seconds between the end of an epoch of a Pipe channel and the FIFO of the next."""


def faults_of(faults: Sequence["Fault"], *, primary: str = "") -> FaultsPlan:
    """The faults of a job. `primary`: the host whose machine is maintained if the fault names none."""
    each = tuple(
        FaultPlan(
            kind=_KINDS[fault.Kind],
            when="Before" if _KINDS[fault.Kind] == "stock-out" else fault.When,
            after=fault.AfterSeconds,
            times=fault.Times,
            host=(fault.Replica or primary) if fault.Kind == "Maintenance" else "",
        )
        for fault in faults
        if fault.Kind in _KINDS
    )
    return FaultsPlan(each=each, names_after=_late(faults, "LateNames"), fifos_after=_late(faults, "LateFifo"))


def _late(faults: Sequence["Fault"], kind: str) -> int:
    return max((fault.AfterSeconds for fault in faults if fault.Kind == kind), default=0)
