from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, HostEnd, RestartCause, RestartPolicy
from smlocal.terms.statuses import INTERNAL_ERROR, Failure, FailureKind, StopCause, input_failure

FAILED = AttemptOutcome(first_failure="algo-1", ends=(HostEnd(host="algo-1", exit_code=1),))
BROKEN = AttemptOutcome(failure=INTERNAL_ERROR)


def test_an_interruption_restarts_as_often_as_it_happens() -> None:
    policy = RestartPolicy(retries=0)
    assert [policy.after(AttemptOutcome(interrupted=True)) for _ in range(5)] == [RestartCause.INTERRUPTION] * 5
    assert policy.interruptions == 5


def test_an_internal_error_uses_up_retries() -> None:
    policy = RestartPolicy(retries=2)
    assert [policy.after(BROKEN) for _ in range(4)] == [RestartCause.RETRY, RestartCause.RETRY, None, None]
    assert policy.used == 2


def test_nothing_else_restarts() -> None:
    policy = RestartPolicy(retries=9)
    assert policy.after(AttemptOutcome()) is None
    assert policy.after(FAILED) is None
    assert policy.after(AttemptOutcome(failure=Failure(kind=FailureKind.START, message="OCI runtime"))) is None
    assert policy.after(AttemptOutcome(failure=input_failure("Data download failed:x"))) is None


@given(st.booleans(), st.sampled_from([None, "algo-1"]), st.sampled_from([None, INTERNAL_ERROR, input_failure("x")]))
def test_a_stopped_job_never_starts_again(interrupted: bool, failed: str | None, failure: Failure | None) -> None:
    outcome = AttemptOutcome(stopped=StopCause.REQUEST, interrupted=interrupted, first_failure=failed, failure=failure)
    assert RestartPolicy(retries=30).after(outcome) is None
