"""A transform job whose supervisor was killed."""

import pytest

from smlocal.engine.interface import ContainerState
from smlocal.jobs.containers import FoundContainer, FoundContainers
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.history import Past
from smlocal.sagemaker.transform.supervisor import begins_again
from smlocal.terms.statuses import JobPhase, StopCause

STOPPED = Past(outcome=AttemptOutcome(stopped=StopCause.REQUEST))
STATES = {
    "running": ("running", "0001-01-01T00:00:00Z", 0),
    "ended by itself": ("exited", "2026-11-20T21:03:00Z", 1),
    "ended with the engine": ("exited", "2026-11-20T21:05:40Z", 137),
}


def found(state: str) -> FoundContainers:
    """The engine was started at 21:05:45."""
    status, finished, code = STATES[state]
    there = ContainerState(
        status=status,
        exit_code=code,
        oom_killed=False,
        error="",
        started_at="2026-11-20T21:00:00Z",
        finished_at=finished,
    )
    one = FoundContainer(id="c", state=there, engine_started="2026-11-20T21:05:45Z")
    return FoundContainers(hosts={"algo-1": one})


@pytest.mark.parametrize(
    ("state", "phase", "past", "again"),
    [
        ("running", JobPhase.TRAINING, Past(), False),
        ("ended by itself", JobPhase.TRAINING, Past(), False),
        ("ended with the engine", JobPhase.TRAINING, Past(), True),
        ("ended with the engine", JobPhase.STARTING, Past(), True),
        ("ended with the engine", JobPhase.STOPPING, STOPPED, False),
        ("running", JobPhase.UPLOADING, Past(), True),
        ("running", JobPhase.UPLOADING, STOPPED, False),
    ],
)
def test_another_container_is_needed(state: str, phase: JobPhase, past: Past, again: bool) -> None:
    assert begins_again(past, found(state), phase) is again
