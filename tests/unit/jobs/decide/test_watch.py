"""The state machine of a running job, driven by hand and by random orders of events."""

from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.decide.events import (
    ContainerExited,
    ContainerLost,
    Event,
    Interrupted,
    KillAsked,
    MachineMoves,
    PlatformFailed,
    StopAsked,
    ThreadDied,
)
from smlocal.jobs.decide.watch import Action, KillHosts, RecordInterruption, RecordStop, TerminateHosts, Watch
from smlocal.jobs.planning.workload import StopPlan
from smlocal.sagemaker.training.running import RUNNING
from smlocal.terms.statuses import JobStatus, StopCause

LIMITS = StopPlan(max_runtime=1000, grace=120, peer_grace=10)


def watch(*hosts: str) -> Watch:
    return Watch(running=set(hosts), stop=LIMITS, deadlines={StopCause.MAX_RUNTIME: 1000.0}, outcome=AttemptOutcome())


def exited(host: str, exit_code: int) -> ContainerExited:
    return ContainerExited(container=host, exit_code=exit_code)


def status(of: Watch) -> JobStatus:
    return RUNNING.ending(of.outcome, b"")[0].status


def test_a_host_that_ends_well_ends_nothing_else() -> None:
    it = watch("algo-1", "algo-2")
    assert it.handle(exited("algo-1", 0), 1.0) == []
    assert it.running == {"algo-2"}
    assert it.handle(exited("algo-2", 0), 2.0) == []
    assert status(it) == "Completed"


def test_maintenance_means_nothing_to_a_job_without_it() -> None:
    it = watch("algo-1")
    assert it.handle(MachineMoves(host="algo-1"), 1.0) == []
    assert (it.running, it.wake_at, it.outcome) == ({"algo-1"}, 1000.0, AttemptOutcome())


def test_the_first_failure_stops_the_peers_and_decides() -> None:
    it = watch("algo-1", "algo-2", "algo-3")
    assert it.handle(exited("algo-2", 17), 1.0) == [TerminateHosts(hosts=("algo-1", "algo-3"))]
    assert it.wake_at == 11.0
    assert it.handle(exited("algo-1", 1), 2.0) == []
    assert it.tick(11.0) == [KillHosts(hosts=("algo-3",))]
    it.handle(exited("algo-3", 137), 11.1)
    assert RUNNING.ending(it.outcome, b"")[1] == "AlgorithmError: , exit code: 17"
    assert [end.killed for end in it.outcome.ends] == [False, False, True]


def test_a_stop_is_recorded_before_the_signal() -> None:
    it = watch("algo-1")
    assert it.handle(StopAsked(cause=StopCause.REQUEST), 5.0) == [
        RecordStop(cause=StopCause.REQUEST, grace=120),
        TerminateHosts(hosts=("algo-1",)),
    ]
    assert it.tick(124.9) == []
    assert it.tick(125.0) == [KillHosts(hosts=("algo-1",))]


def test_a_deadline_that_passes_after_the_end_stops_nothing() -> None:
    it = watch("algo-1")
    it.handle(exited("algo-1", 0), 999.9)
    assert it.tick(1000.0) == []
    assert status(it) == "Completed"


def test_whoever_does_not_want_to_wait_kills_at_once() -> None:
    it = watch("algo-1", "algo-2")
    it.handle(StopAsked(cause=StopCause.REQUEST), 5.0)
    assert it.handle(KillAsked(), 6.0) == [KillHosts(hosts=("algo-1", "algo-2"))]
    assert it.handle(KillAsked(), 7.0) == []


def test_a_second_stop_can_only_shorten_the_grace() -> None:
    it = watch("algo-1")
    it.handle(StopAsked(cause=StopCause.REQUEST, grace=60), 5.0)
    assert it.handle(StopAsked(cause=StopCause.REQUEST), 6.0) == []
    assert it.wake_at == 65.0
    assert it.handle(StopAsked(cause=StopCause.REQUEST, grace=100), 7.0) == []
    assert it.wake_at == 65.0
    assert it.handle(StopAsked(cause=StopCause.REQUEST, grace=1), 8.0) == []
    assert it.wake_at == 9.0


def test_an_interruption_is_recorded_and_no_exit_after_it_is_a_failure() -> None:
    it = watch("algo-1", "algo-2")
    assert it.handle(Interrupted(), 5.0) == [RecordInterruption(), TerminateHosts(hosts=("algo-1", "algo-2"))]
    assert it.handle(Interrupted(), 6.0) == []
    it.handle(exited("algo-1", 1), 7.0)
    assert not it.outcome.decided
    it.handle(StopAsked(cause=StopCause.REQUEST), 8.0)
    it.handle(exited("algo-2", 1), 9.0)
    assert status(it) == "Stopped"


def test_a_broken_platform_kills_and_decides() -> None:
    it = watch("algo-1")
    assert it.handle(PlatformFailed(), 5.0) == [KillHosts(hosts=("algo-1",))]
    it.handle(exited("algo-1", 137), 6.0)
    assert (
        RUNNING.ending(it.outcome, b"")[1] == "InternalServerError: We encountered an internal error. Please try again."
    )


def test_the_wait_for_spot_instances_has_a_clock_of_its_own() -> None:
    it = watch("algo-1")
    it.deadlines = {StopCause.MAX_RUNTIME: 1000.0, StopCause.MAX_WAIT: 900.0}
    assert it.wake_at == 900.0
    it.tick(900.0)
    it.handle(exited("algo-1", 0), 901.0)
    assert RUNNING.ending(it.outcome, b"")[0].phase == "MaxWaitTimeExceeded"


def test_the_runtime_is_a_stop_of_its_own_kind() -> None:
    it = watch("algo-1")
    assert it.tick(999.0) == []
    assert it.tick(1000.0) == [RecordStop(cause=StopCause.MAX_RUNTIME, grace=120), TerminateHosts(hosts=("algo-1",))]
    it.handle(exited("algo-1", 0), 1001.0)
    assert RUNNING.ending(it.outcome, b"")[0].phase == "MaxRuntimeExceeded"


def test_exit_code_and_failure_file_do_not_matter_after_a_stop() -> None:
    it = watch("algo-1")
    it.handle(StopAsked(cause=StopCause.REQUEST), 5.0)
    it.handle(exited("algo-1", 1), 6.0)
    assert RUNNING.ending(it.outcome, b"something went wrong")[0].status == "Stopped"
    assert RUNNING.ending(it.outcome, b"something went wrong")[1] is None


def test_memory_is_told_by_the_engine_and_not_by_137() -> None:
    killed, starved = watch("algo-1"), watch("algo-1")
    killed.handle(ContainerExited(container="algo-1", exit_code=137), 1.0)
    starved.handle(ContainerExited(container="algo-1", exit_code=137, oom_killed=True), 1.0)
    assert RUNNING.ending(killed.outcome, b"")[1] == "AlgorithmError: , exit code: 137"
    reason = RUNNING.ending(starved.outcome, b"")[1]
    assert reason is not None
    assert reason.startswith("ClientError: Please use an instance type with more memory")


def test_a_container_that_outlives_sigkill_is_not_waited_for() -> None:
    it = watch("algo-1", "algo-2")
    it.handle(StopAsked(cause=StopCause.REQUEST, grace=5), 10.0)
    assert it.tick(15.0) == [KillHosts(hosts=("algo-1", "algo-2"))]
    assert it.wake_at == 75.0
    it.handle(exited("algo-1", 137), 16.0)
    assert it.tick(74.9) == []
    assert it.running == {"algo-2"}
    assert it.tick(75.0) == []
    assert it.running == set()
    assert it.lost == "algo-2 did not end within 60 s of SIGKILL"
    assert status(it) == "Stopped"


def test_who_still_reads_what_a_killed_container_wrote_is_waited_for() -> None:
    it = watch("algo-1")
    it.handle(KillAsked(), 10.0)
    it.ended = {"algo-1"}
    it.tick(70.0)
    assert (it.running, it.lost, it.wake_at) == ({"algo-1"}, None, 1000.0)


def test_a_host_that_nobody_can_wait_for_is_killed_and_its_peers_are_stopped() -> None:
    it = watch("algo-1", "algo-2")
    assert it.handle(ContainerLost(container="algo-1", why="gone"), 1.0) == [
        KillHosts(hosts=("algo-1",)),
        TerminateHosts(hosts=("algo-2",)),
    ]
    assert (it.running, it.lost) == ({"algo-2"}, "gone")
    assert it.tick(11.0) == [KillHosts(hosts=("algo-2",))]


def test_a_thread_that_dies_ends_the_job() -> None:
    it = watch("algo-1", "algo-2")
    died = ThreadDied(thread="algo-1-wait", error=KeyError("StatusCode"), container="algo-1")
    assert it.handle(died, 1.0) == [KillHosts(hosts=("algo-1",)), TerminateHosts(hosts=("algo-2",))]
    it.handle(exited("algo-2", 0), 2.0)
    assert it.running == set()
    assert (
        RUNNING.ending(it.outcome, b"")[1] == "InternalServerError: We encountered an internal error. Please try again."
    )
    assert it.explanation == "unexpected error in smlocal: KeyError: 'StatusCode' (algo-1-wait)"


def test_a_thread_that_waits_for_no_host_dies() -> None:
    it = watch("algo-1")
    assert it.handle(ThreadDied(thread="credentials", error=OSError("x")), 1.0) == [TerminateHosts(hosts=("algo-1",))]
    assert it.running == {"algo-1"}


def test_a_thread_that_dies_does_not_change_a_stop() -> None:
    it = watch("algo-1")
    it.handle(StopAsked(cause=StopCause.REQUEST), 1.0)
    assert it.handle(ThreadDied(thread="algo-1-output", error=OSError("x")), 2.0) == []
    assert it.handle(ThreadDied(thread="algo-1-wait", error=OSError("x"), container="algo-1"), 3.0) == [
        KillHosts(hosts=("algo-1",))
    ]
    assert (it.running, status(it)) == (set(), "Stopped")


HOSTS = ("algo-1", "algo-2", "algo-3")
EVENTS = st.lists(
    st.one_of(
        st.builds(ContainerExited, container=st.sampled_from(HOSTS), exit_code=st.sampled_from([0, 1, 137, 143])),
        st.builds(ContainerLost, container=st.sampled_from(HOSTS), why=st.just("gone")),
        st.builds(
            ThreadDied,
            thread=st.just("t"),
            error=st.just(KeyError("x")),
            container=st.none() | st.sampled_from(HOSTS),
        ),
        st.builds(StopAsked, cause=st.sampled_from(StopCause), grace=st.none() | st.floats(min_value=0, max_value=200)),
        st.builds(KillAsked),
        st.builds(Interrupted),
        st.builds(PlatformFailed),
        st.just(None),
    ),
    max_size=30,
)


@given(EVENTS, st.lists(st.floats(min_value=0, max_value=400), min_size=30, max_size=30))
def test_in_any_order_a_decision_stands_and_nothing_waits_for_ever(
    events: list[Event | None], pauses: list[float]
) -> None:
    it = watch(*HOSTS)
    now = 0.0
    decided: JobStatus | None = None
    done: list[Action] = []
    for event, pause in zip(events, pauses, strict=False):
        now += pause
        if event is None or (
            isinstance(event, ContainerExited | ContainerLost | ThreadDied)
            and event.container is not None
            and event.container not in it.running
        ):
            actions = it.tick(now)
        else:
            actions = it.handle(event, now)
        done += actions
        if decided is not None:
            assert status(it) == decided
        elif it.outcome.decided:
            decided = status(it)
        # Every host that still runs after a decision has been signalled and will be killed, or has been killed.
        if it.outcome.decided or it.outcome.interrupted:
            assert it.running <= it.signalled
            assert it.running <= it.killed or it.kill_at is not None
    assert sum(isinstance(action, RecordStop) for action in done) <= 1
    recorded = [index for index, action in enumerate(done) if isinstance(action, RecordStop)]
    signalled = [index for index, action in enumerate(done) if isinstance(action, TerminateHosts | KillHosts)]
    others = (it.outcome.first_failure, it.lost, it.outcome.failure, it.outcome.interrupted or None)
    if recorded and all(other is None for other in others) and not any(isinstance(e, KillAsked) for e in events):
        assert all(index > recorded[0] for index in signalled)
    for action in done:
        if isinstance(action, TerminateHosts | KillHosts):
            assert action.hosts
