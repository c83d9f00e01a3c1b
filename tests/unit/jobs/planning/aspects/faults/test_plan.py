"""`Local.Faults` as a supervisor knows them."""

from smlocal.jobfile.settings import Fault
from smlocal.jobs.planning.aspects.faults.plan import FaultPlan, faults_of


def test_each_kind() -> None:
    faults = [
        Fault(Kind="LateNames", AfterSeconds=3),
        Fault(Kind="Interrupt", AfterSeconds=5, Times=2),
        Fault(Kind="InternalError", When="After"),
        Fault(Kind="StockOut", Times=3),
        Fault(Kind="CapacityError"),
        Fault(Kind="ResourceLimitExceeded"),
        Fault(Kind="Maintenance", AfterSeconds=1),
        Fault(Kind="Maintenance", Replica="worker-1"),
    ]
    planned = faults_of(faults, primary="master-0")
    assert (planned.names_after, planned.fifos_after) == (3, 0)
    assert planned.each == (
        FaultPlan(kind="interrupt", when="During", after=5, times=2),
        FaultPlan(kind="internal-error", when="After", after=0, times=1),
        FaultPlan(kind="stock-out", when="Before", after=0, times=3),
        FaultPlan(kind="stock-out", when="Before", after=0, times=1),
        FaultPlan(kind="maintenance", when="During", after=1, times=1, host="master-0"),
        FaultPlan(kind="maintenance", when="During", after=0, times=1, host="worker-1"),
    )
