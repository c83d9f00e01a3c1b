"""The history of the attempt that is taken up."""

from typing import Any

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.history import Past, read_past
from smlocal.jobs.store.records import StoredEvent
from smlocal.terms.statuses import StopCause


def read(*events: tuple[str, Any]) -> Past:
    return read_past(StoredEvent(at=float(at), kind=kind, data=data) for at, (kind, data) in enumerate(events, 1))


def signal(host: str, name: str, error: str | None = None) -> tuple[str, Any]:
    return "signal", {"Host": host, "Signal": name, "Error": error}


def restart(number: int, why: str) -> tuple[str, Any]:
    return "restart", {"Number": number, "Why": why, "Logged": {"algo-1": number * 10}}


def test_nothing_happened() -> None:
    assert read() == Past()
    assert read(("anything", None)) == Past(events_read=1)


def test_a_stop_and_its_signals() -> None:
    past = read(
        ("stop", {"Cause": "request", "Grace": 5.0}),
        signal("algo-1", "SIGTERM"),
        signal("algo-2", "SIGTERM", "the engine stopped answering"),
        signal("algo-1", "SIGKILL"),
    )
    assert (past.outcome, past.grace) == (AttemptOutcome(stopped=StopCause.REQUEST), 5.0)
    assert past.terminated == {"algo-1": 2.0}
    assert past.killed == {"algo-1"}


def test_an_interruption_that_was_asked_for_and_begun() -> None:
    assert read(("interrupt", {})).interruption_asked
    past = read(("interrupt", {}), ("interruption", {}))
    assert not past.interruption_asked
    assert past.outcome == AttemptOutcome(interrupted=True)


def test_a_stop_outweighs_an_interruption() -> None:
    past = read(("stop", {"Cause": "request"}), ("interruption", {}))
    assert past.outcome == AttemptOutcome(stopped=StopCause.REQUEST)


def test_only_the_last_attempt_counts_but_for_how_many_there_were() -> None:
    past = read(
        ("fault", {"Index": 1}),
        ("interruption", {}),
        signal("algo-1", "SIGTERM"),
        restart(2, "interruption"),
        restart(3, "retry"),
    )
    assert past == Past(events_read=5, retries=1, interruptions=1, faults=[1], logged={"algo-1": 30})
