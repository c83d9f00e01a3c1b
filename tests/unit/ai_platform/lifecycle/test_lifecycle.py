"""The lifecycle of a job, driven by hand."""

from typing import Any

import pytest
from tests.unit.ai_platform.lifecycle.job_world import PRIMARY, World

from smlocal.ai_platform.lifecycle.actions import Decision, Happened, Kill, Restart, Terminate
from smlocal.ai_platform.lifecycle.events import (
    CancelAsked,
    CancelAskedAgain,
    InternalError,
    MaintenanceBegun,
    ReplicaExited,
    ReplicaReady,
    StockOut,
)
from smlocal.ai_platform.lifecycle.progress import ReplicaProgress, Rules
from smlocal.ai_platform.lifecycle.states import JobState

WORKER, OTHER = "workerpool1-0", "workerpool1-1"


def rules(**settings: Any) -> Rules:
    return Rules(**{"region": "us-central1", **settings})


def test_the_job_is_running_only_when_all_replicas_are_available() -> None:
    world = World()
    world.begin()
    world.ready(WORKER)
    world.ready(PRIMARY)
    assert world.states[-1] == "PREPARING"
    world.ready(OTHER)
    assert world.states == ["QUEUED", "PREPARING", "RUNNING"]


def test_a_replica_may_fail_and_be_back_before_the_last_is_available() -> None:
    world = World()
    world.begin()
    world.ready(WORKER)
    world.exits(WORKER, 137)
    world.ready(PRIMARY)
    world.ready(OTHER)
    assert world.states[-1] == "RUNNING"


def test_the_primary_ends_the_job_and_the_rest_is_stopped() -> None:
    world = World()
    world.begin_and_run()
    world.exits(PRIMARY, 0)
    assert world.signals == [Terminate(replicas=(WORKER, OTHER))]
    assert world.states[-1] == "RUNNING"
    world.exits(WORKER, 143)
    world.wait(30.0)
    assert world.signals[-1] == Kill(replicas=(OTHER,))
    world.exits(OTHER, 137)
    world.go_on()
    assert (world.states[-1], world.error, world.lifecycle.wake_at) == ("SUCCEEDED", None, None)
    assert [entry.signal for entry in world.entries[-3:]] == [None, "SIGTERM", "SIGKILL"]


def test_another_replica_that_is_done_ends_nothing() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 0)
    assert (world.signals, world.restarts, world.lifecycle.running) == ([], [], {PRIMARY, OTHER})
    world.exits(OTHER, 0)
    world.wait(86_400.0)
    assert world.lifecycle.running == {PRIMARY}
    world.exits(PRIMARY, 0)
    world.go_on()
    assert world.states[-1] == "SUCCEEDED"


def test_a_replica_that_a_signal_ended_is_restarted_at_once_and_its_peers_are_left_alone() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 137)
    assert world.restarts == [Restart(replica=WORKER, number=2)]
    assert (world.signals, world.states[-1]) == ([], "RUNNING")
    assert world.lifecycle.running == {PRIMARY, WORKER, OTHER}


def test_after_five_restarts_the_job_is_tried_again_and_after_three_of_these_it_fails() -> None:
    world = World()
    for attempt in range(1, 5):
        world.go_on()
        world.go_on()
        world.all_ready()
        for _ in range(5):
            world.exits(WORKER, 143)
            world.ready(WORKER)
        assert len(world.restarts) == 5 * attempt
        world.exits(WORKER, 143)
        assert world.last_decision() == (Decision.RETRY_JOB if attempt < 4 else Decision.FAIL)
        assert world.entries[-1].restarts == 5
        for name in sorted(world.lifecycle.running):
            world.exits(name, 143)
        world.go_on()
    assert world.states[-1] == "FAILED"
    assert world.states.count(JobState.RUNNING) == 4
    assert world.error is not None
    assert (world.error.code, world.error.message) == (
        3,
        "The replica workerpool1-0 exited with a non-zero status of 143. Termination reason: Error.",
    )


def test_restarts_of_one_replica_do_not_count_for_another() -> None:
    world = World()
    world.begin_and_run()
    for _ in range(5):
        for name in (WORKER, OTHER, PRIMARY):
            world.exits(name, 137)
            world.ready(name)
    assert (len(world.restarts), world.progress.verdict) == (15, None)


@pytest.mark.parametrize(
    ("code", "oom_killed", "attempts"), [(1, False, 1), (137, True, 1), (139, False, 4), (6, False, 4)]
)
def test_how_often_an_error_is_tried_again(code: int, *, oom_killed: bool, attempts: int) -> None:
    world = World()
    for _ in range(9):
        world.go_on()
        world.all_ready()
        if world.lifecycle.running:
            world.exits(PRIMARY, code, oom_killed=oom_killed)
            world.exits(OTHER, 143)
            world.exits(WORKER, 0)
    assert (world.states[-1], world.progress.attempt, world.restarts) == ("FAILED", attempts, [])


def test_an_internal_error_has_three_attempts_in_all() -> None:
    world = World()
    for _ in range(3):
        world.begin_and_run() if world.progress.attempt == 0 else world.go_on()
        world.all_ready()
        world.handle(InternalError(why="staged"))
        assert world.signals.pop() == Kill(replicas=(PRIMARY, WORKER, OTHER))
        for name in sorted(world.lifecycle.running):
            world.exits(name, 137)
        world.go_on()
    assert (world.states[-1], world.progress.attempt) == ("FAILED", 3)
    assert world.error is not None
    assert (world.error.code, world.error.message) == (13, "Internal error occurred for the current attempt")


def test_a_stock_out_is_tried_again_three_times_without_any_replica() -> None:
    world = World(rules=rules(region="asia-east1"))
    for _ in range(4):
        if world.progress.attempt == 0:
            world.go_on()
        world.handle(StockOut())
        world.go_on()
    assert (world.states, world.progress.attempt) == (["QUEUED", "PREPARING", "FAILED"], 4)
    assert world.error is not None
    assert world.error.code == 8
    assert world.error.message.startswith("Resources are insufficient in region: asia-east1. Try a different region")


def test_retries_are_counted_for_the_job_and_not_for_each_kind_of_error() -> None:
    world = World()
    world.go_on()
    world.handle(StockOut())
    world.go_on()
    world.handle(StockOut())
    world.go_on()
    world.go_on()
    world.all_ready()
    world.handle(InternalError(why="staged"))
    assert world.last_decision() is Decision.FAIL


def test_disabled_retries_concern_internal_errors_of_a_job_that_was_running() -> None:
    world = World(rules=rules(disable_retries=True, restart_job_on_worker_restart=True))
    world.begin()
    world.handle(InternalError(why="before"))
    assert world.last_decision() is Decision.RETRY_JOB
    world.finish()
    other = World(rules=rules(disable_retries=True, restart_job_on_worker_restart=True))
    other.begin_and_run()
    other.exits(WORKER, 137)
    assert other.last_decision() is Decision.RESTART_REPLICA
    other.handle(InternalError(why="during"))
    assert other.last_decision() is Decision.FAIL


def test_the_whole_job_starts_again_with_a_replica_if_it_says_so() -> None:
    world = World(rules=rules(restart_job_on_worker_restart=True))
    world.begin_and_run()
    world.exits(WORKER, 137)
    assert world.restarts == []
    assert world.last_decision() is Decision.RETRY_JOB
    assert world.signals == [Terminate(replicas=(PRIMARY, OTHER))]
    world.exits(PRIMARY, 0)
    world.exits(OTHER, 143)
    world.go_on()
    world.go_on()
    world.all_ready()
    world.handle(MaintenanceBegun(replica=OTHER))
    assert world.last_decision() is Decision.RESTART_JOB
    for name in sorted(world.lifecycle.running):
        world.exits(name, 143)
    world.go_on()
    assert (world.progress.attempt, world.progress.retries) == (3, 1)


def test_maintenance_moves_a_replica_and_is_no_failure() -> None:
    world = World()
    world.begin_and_run()
    for number in range(2, 9):
        world.handle(MaintenanceBegun(replica=PRIMARY))
        assert world.signals[-1] == Terminate(replicas=(PRIMARY,))
        world.exits(PRIMARY, 0 if number % 2 else 143)
        assert world.restarts[-1] == Restart(replica=PRIMARY, number=number, other_machine=True)
        world.ready(PRIMARY)
    assert (world.progress.restarts, world.states[-1]) == ({}, "RUNNING")
    world.exits(PRIMARY, 0)
    assert world.last_decision() is Decision.SUCCEED


def test_a_replica_that_does_not_leave_its_machine_is_killed() -> None:
    world = World()
    world.begin_and_run()
    world.handle(MaintenanceBegun(replica=WORKER))
    world.wait(30.0)
    assert world.signals[-1] == Kill(replicas=(WORKER,))
    world.wait(60.0)
    assert [entry.happened for entry in world.entries[-2:]] == [Happened.LOST, Happened.INTERNAL_ERROR]


def test_a_moved_replica_that_cannot_be_started_fails_the_job() -> None:
    world = World()
    world.begin_and_run()
    world.handle(MaintenanceBegun(replica=WORKER))
    world.exits(WORKER, 143)
    world.refuse_start(WORKER)
    assert world.last_decision() is Decision.FAIL


def test_nothing_wakes_up_for_what_was_done() -> None:
    world = World(rules=rules(max_running=None))
    world.begin_and_run()
    world.handle(CancelAsked())
    world.wait(30.0)
    times = [world.lifecycle.wake_at]
    world.exits(WORKER, 137)
    world.exits(OTHER, 137)
    world.lifecycle.ended = {PRIMARY}
    world.wait(60.0)
    assert world.lifecycle.running == {PRIMARY}
    assert [*times, world.lifecycle.wake_at] == [190.0, None]


def test_cancelling_is_said_before_any_signal() -> None:
    world = World()
    world.begin_and_run()
    world.handle(CancelAsked())
    assert world.states[-1] == "CANCELLING"
    for name, code in ((WORKER, 143), (PRIMARY, 0), (OTHER, 1)):
        world.exits(name, code)
    world.go_on()
    assert world.states[-2:] == ["CANCELLING", "CANCELLED"]
    assert world.error is not None
    assert world.error.code == 1


def test_a_replica_that_is_being_restarted_gets_the_signal_when_it_is_there() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 137)
    world.handle(CancelAsked())
    assert world.signals == [Terminate(replicas=(PRIMARY, OTHER))]
    world.ready(WORKER)
    assert world.signals[-1] == Terminate(replicas=(WORKER,))
    world.exits(WORKER, 1)
    assert len(world.restarts) == 1


def test_a_job_may_be_cancelled_before_its_first_attempt() -> None:
    world = World()
    world.handle(CancelAsked())
    world.go_on()
    assert (world.states, world.progress.attempt) == (["QUEUED", "CANCELLING", "CANCELLED"], 0)


def test_a_cancellation_between_two_attempts_prevents_the_next() -> None:
    world = World()
    world.begin_and_run()
    world.exits(PRIMARY, 139)
    assert world.last_decision() is Decision.RETRY_JOB
    world.handle(CancelAsked())
    world.finish()
    assert (world.states[-1], world.progress.attempt) == ("CANCELLED", 1)


def test_a_cancellation_after_the_primary_is_done_changes_nothing_but_the_grace() -> None:
    world = World()
    world.begin_and_run()
    world.exits(PRIMARY, 0)
    world.handle(CancelAsked(grace=5.0))
    world.wait(5.0)
    assert world.signals[-1] == Kill(replicas=(WORKER, OTHER))
    world.finish()
    assert world.states[-1] == "SUCCEEDED"


def test_whoever_does_not_want_to_wait_kills_at_once() -> None:
    world = World()
    world.begin_and_run()
    world.handle(CancelAsked())
    world.handle(CancelAskedAgain())
    assert world.signals[-1] == Kill(replicas=(PRIMARY, WORKER, OTHER))
    world.finish()
    assert world.states[-1] == "CANCELLED"


def test_the_running_time_begins_when_all_are_available_and_goes_on_in_later_attempts() -> None:
    world = World(rules=rules(max_running=100.0))
    world.begin()
    world.wait(1000.0)
    world.all_ready()
    assert world.lifecycle.wake_at == 1200.0
    world.wait(60.0)
    world.handle(InternalError(why="staged"))
    for name in sorted(world.lifecycle.running):
        world.exits(name, 137)
    world.go_on()
    world.go_on()
    world.all_ready()
    world.wait(40.0)
    assert world.states[-1] == "CANCELLING"
    world.finish()
    assert world.error is not None
    assert (world.error.code, world.error.message) == (
        1,
        "The job was cancelled because it was running for more than 100s.",
    )


def test_the_wait_time_counts_until_the_job_was_running_once() -> None:
    waiting = World(rules=rules(max_wait=1800.0))
    waiting.begin()
    waiting.ready(PRIMARY)
    waiting.wait(1800.0)
    assert waiting.states[-1] == "CANCELLING"
    running = World(rules=rules(max_wait=1800.0))
    running.begin_and_run()
    running.exits(PRIMARY, 139)
    running.exits(WORKER, 0)
    running.exits(OTHER, 0)
    running.go_on()
    running.wait(1800.0)
    assert running.states[-1] == "PREPARING"


def test_the_error_is_attached_at_the_end() -> None:
    world = World(replicas=(ReplicaProgress(name="master 0", primary=True),))
    world.begin_and_run()
    world.exits("master 0", 1)
    world.go_on()
    assert world.states[-1] == "FAILED"
    assert world.error is not None
    assert world.error.message.startswith("The replica master 0 exited with a non-zero status of 1.")
    assert world.lifecycle.wake_at is None


def test_all_replicas_fail_in_the_same_instant() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 137)
    world.exits(PRIMARY, 1)
    world.exits(OTHER, 139)
    assert world.decisions[-3:] == [Decision.RESTART_REPLICA, Decision.FAIL, Decision.NOTHING]
    assert world.lifecycle.running == {WORKER}
    world.finish()
    assert world.states[-1] == "FAILED"
    assert world.every_container_has_one_end()


def test_a_program_that_cannot_be_started_is_a_permanent_error() -> None:
    world = World()
    world.begin()
    world.ready(PRIMARY)
    world.refuse_start(WORKER)
    world.finish()
    assert world.progress.attempt == 1
    assert world.error is not None
    assert world.error.message == (
        "The replica workerpool1-0 exited with a non-zero status of 127. Termination reason: ContainerCannotRun."
    )


def test_a_container_that_is_gone_is_replaced() -> None:
    world = World()
    world.begin_and_run()
    world.lose(WORKER)
    assert world.restarts == [Restart(replica=WORKER, number=2)]


def test_what_is_late_counts_for_nothing() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 137)
    world.handle(ReplicaExited(replica=WORKER, number=1, exit_code=137))
    world.handle(ReplicaReady(replica=WORKER, number=1))
    assert (world.progress.restarts, world.progress.starting) == ({WORKER: 1}, {WORKER})


def test_a_supervisor_that_dies_between_exit_and_restart_leaves_the_count_and_the_restart_to_the_next() -> None:
    world = World()
    world.begin_and_run()
    for _ in range(4):
        world.exits(WORKER, 137)
        world.ready(WORKER)
    world.forgetful = True
    world.exits(WORKER, 137)
    assert len(world.restarts) == 4
    world.adopt()
    assert world.restarts[4:] == [Restart(replica=WORKER, number=6)]
    world.ready(WORKER)
    world.exits(WORKER, 137)
    assert world.entries[-1].restarts == 5
    assert world.last_decision() is Decision.RETRY_JOB
    world.finish()
    assert world.every_container_has_one_end()


def test_a_supervisor_that_dies_before_it_signals_leaves_the_signal_to_the_next() -> None:
    world = World()
    world.begin_and_run()
    world.forgetful = True
    world.handle(CancelAsked())
    assert world.signals == []
    world.adopt()
    assert world.signals == [Terminate(replicas=(name,)) for name in (PRIMARY, WORKER, OTHER)]


def test_a_container_that_nobody_finds_any_more_is_replaced_too() -> None:
    world = World()
    world.begin_and_run()
    del world.containers[WORKER]
    world.adopt()
    assert world.restarts == [Restart(replica=WORKER, number=2)]
    assert world.progress.restarts == {WORKER: 1}


def test_an_entry_of_the_history_says_what_is_known() -> None:
    world = World()
    world.begin_and_run()
    world.exits(WORKER, 137)
    assert world.entries[-1].as_json() == {
        "Happened": "exited",
        "Attempt": 1,
        "Decision": "restart-replica",
        "Replica": "workerpool1-0",
        "Container": 1,
        "Restarts": 0,
        "ExitCode": 137,
        "OomKilled": False,
        "Error": "replica-failure",
    }
