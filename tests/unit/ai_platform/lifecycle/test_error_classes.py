"""The meaning of exit codes."""

import pytest
from tests.kit.fault_programs import FAULTS, Fault

from smlocal.ai_platform.lifecycle.states import MOST_RETRIES, ErrorClass, error_class


@pytest.mark.parametrize("code", [6, 11, 134, 139])
def test_aborts_and_segmentation_faults_may_be_gone_at_the_next_attempt(code: int) -> None:
    error = error_class(code, oom_killed=False)
    assert (error, MOST_RETRIES[error]) == (ErrorClass.TRANSIENT, 3)


@pytest.mark.parametrize("code", [1, 2, 5, 7, 10, 12, 127, 128, 193, 255])
def test_a_program_that_fails_by_itself_is_a_user_exception(code: int) -> None:
    error = error_class(code, oom_killed=False)
    assert (error, MOST_RETRIES[error]) == (ErrorClass.USER_EXCEPTION, 0)


@pytest.mark.parametrize("code", [129, 130, 137, 143, 192])
def test_a_program_that_a_signal_ended_is_restarted(code: int) -> None:
    assert error_class(code, oom_killed=False) is ErrorClass.REPLICA_FAILURE


@pytest.mark.parametrize("code", [1, 11, 137, 139])
def test_only_the_engine_knows_who_ran_out_of_memory(code: int) -> None:
    error = error_class(code, oom_killed=True)
    assert (error, MOST_RETRIES[error]) == (ErrorClass.OUT_OF_MEMORY, 0)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_programs_have_the_classes_of_their_codes(fault: Fault) -> None:
    for code, error in ((fault.exit_code, fault.error), (fault.exit_code_under_init, fault.error_under_init)):
        expected = error_class(code, oom_killed=fault.oom_killed) if code else None
        assert error is expected
