"""Staged faults: each at its time, and never more often than asked."""

from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.decide.events import Faults, Interrupted, MachineMoves, PlatformFailed
from smlocal.jobs.planning.aspects.faults.plan import FaultPlan

KINDS = {
    "interrupt": ("interrupt", "During"),
    "maintenance": ("maintenance", "During"),
    "stock-out": ("stock-out", "Before"),
    "Before": ("internal-error", "Before"),
    "During": ("internal-error", "During"),
    "After": ("internal-error", "After"),
}
PLANS = st.lists(
    st.builds(
        lambda kind, after, times: FaultPlan(kind=kind[0], when=kind[1], after=after, times=times, host="second"),
        kind=st.sampled_from(list(KINDS.values())),
        after=st.integers(min_value=0, max_value=10),
        times=st.integers(min_value=1, max_value=4),
    ),
    max_size=4,
).map(tuple)


@given(PLANS, st.lists(st.floats(min_value=0, max_value=12), max_size=12))
def test_no_fault_strikes_more_often_than_asked(plans: tuple[FaultPlan, ...], lasting: list[float]) -> None:
    faults = Faults(planned=plans)
    now = 0.0
    struck = dict.fromkeys(KINDS, 0)
    for seconds in lasting:
        struck["stock-out"] += faults.no_machines()
        struck["Before"] += faults.fails("Before")
        faults.training_began(now)
        assert faults.due(now - 1) == []
        end = now + seconds
        due = faults.due(end)
        struck["interrupt"] += sum(isinstance(event, Interrupted) for event in due)
        struck["maintenance"] += due.count(MachineMoves(host="second"))
        struck["During"] += sum(isinstance(event, PlatformFailed) for event in due)
        # The rest comes later, never now.
        assert faults.wake_at is None or faults.wake_at > end
        struck["After"] += faults.fails("After")
        now = end
    for kind, count in struck.items():
        asked = [plan for plan in plans if (plan.kind, plan.when) == KINDS[kind]]
        assert count <= sum(plan.times for plan in asked)
        at_once = [plan for plan in asked if plan.when != "During" or plan.after == 0]
        assert count >= min(len(lasting), max((plan.times for plan in at_once), default=0))


def test_a_fault_waits_for_its_second() -> None:
    faults = Faults(planned=(FaultPlan(kind="interrupt", when="During", after=3, times=1),))
    assert Faults(planned=faults.planned).wake_at is None
    faults.training_began(10.0)
    assert faults.wake_at == 13.0
    assert faults.due(12.9) == []
    assert faults.due(13.0) == [Interrupted()]
    faults.training_began(20.0)
    assert faults.due(1000.0) == []
