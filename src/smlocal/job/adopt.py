"""Bring a job to its true end whose supervisor is gone: killed, or down with the machine."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smlocal.contract import failure
from smlocal.contract.statuses import Ending, SecondaryStatus, StatusMessage, StopCause, TrainingJobStatus
from smlocal.engine.interface import ContainerState, Engine, ResourceKind
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.attempt import Attempt
from smlocal.job.cleanup import clear_disk, clear_engine
from smlocal.job.collect import give_back
from smlocal.job.context import Context
from smlocal.job.delivery import Delivery
from smlocal.job.describe import DECISION, JOB, LOCAL, PLAN, RECALL, REQUEST, describe_job
from smlocal.job.events import Events, Interrupted
from smlocal.job.faults import FAULT
from smlocal.job.folder import keep
from smlocal.job.host_run import HOST_LABEL, HostRun
from smlocal.job.labels import owned_by
from smlocal.job.ladder import SIGNAL
from smlocal.job.outcome import Story
from smlocal.job.prepare import plan_again
from smlocal.job.reporter import Silent
from smlocal.job.reserve import give_room
from smlocal.job.signals import StopSignals
from smlocal.job.supervisor import Supervisor, end_job, make_context
from smlocal.job.word import INTERRUPT, STOP
from smlocal.plan.model import JobPlan
from smlocal.plan.recall import recall
from smlocal.store.jobs import Store
from smlocal.store.records import Event

if TYPE_CHECKING:
    from smlocal.job.credentials import Desk

_RUNNING = {"running", "paused", "restarting"}
_ENGINE_STARTS_SECONDS = 15.0
"""An engine that starts gives what it finds running ten seconds after SIGTERM."""
_RAN = {*_RUNNING, "exited", "dead"}


def adopt(store: Store, name: str, connect: Callable[[], Engine], owned: Callable[[], None] = lambda: None) -> bool:
    """Supervise an orphan to its end; False when it needs nobody (any more)."""
    events = Events()
    with StopSignals(events) as signals:
        lease = store.take_over(name, os.getpid())
        if lease is None:
            return False
        with lease:
            owned()
            engine = connect()
            engine.facts()  # while the engine is away nothing can be found out, and nothing is decided
            if not _only_cleaning_was_left(store, name, engine):
                _bring_to_its_end(store, name, engine, events, signals)
            # The first supervisor may have died over any of them.
            for kind in (REQUEST, PLAN):
                keep(store.directory(name), kind, store.document(name, kind))
            keep(store.directory(name), "describe", describe_job(store, name))
    return True


def _only_cleaning_was_left(store: Store, name: str, engine: Engine) -> bool:
    """The dead supervisor had decided already: what is left is to clean up and to say so."""
    local = store.document(name, LOCAL)
    if local is None or DECISION not in local:
        return False
    decision = local[DECISION]
    give_room(store.directory(name))
    _hand_back(store, name, engine)
    left = [*clear_engine(engine, name, store.get(name).run_id, engine_lost=True), *clear_disk(store.directory(name))]
    if left:
        store.put_document(name, LOCAL, {**local, "Leftovers": [*local["Leftovers"], *left]})
    ended = Ending(
        status=TrainingJobStatus(decision["Status"]),
        secondary=SecondaryStatus(decision["Secondary"]),
        message=StatusMessage(decision["Message"]),
    )
    end_job(store, name, ended, decision["Reason"])
    return True


def _hand_back(store: Store, name: str, engine: Engine) -> None:
    """What the containers wrote as root must be deletable, also where the dead supervisor did not come to it."""
    plan = recall(store.document(name, RECALL))
    runs = []
    for resource in owned_by(engine, name, plan.run_id):
        host = next((host for host in plan.hosts if host.host.name == resource.labels.get(HOST_LABEL)), None)
        if resource.kind is ResourceKind.CONTAINER and host is not None:
            run = HostRun(
                plan=plan, host=host, engine=engine, events=Events(), reporter=Silent(), delivery=_nothing(plan)
            )
            run.take_up(resource.id)
            runs.append(run)
    give_back(runs, engine)


def _nothing(plan: JobPlan) -> Delivery:
    """For containers that have ended and need nothing brought."""
    return Delivery(plan=plan, home="", reporter=Silent(), broken=lambda _, __: None)


def _bring_to_its_end(store: Store, name: str, engine: Engine, events: Events, signals: StopSignals) -> None:
    record = store.get(name)
    plan = recall(store.document(name, RECALL))
    context = make_context(name, engine=engine, store=store, reporter=Silent(), events=events, signals=signals)
    supervisor = Supervisor(
        context=context,
        plan=plan,
        desk=_desk(plan, engine),
        renew=lambda: plan_again(store.document(name, JOB), plan, home=store.home, engine=engine),
    )
    _count_the_past(supervisor)
    context.phases.take_up(record.secondary_status, stopping=record.status is TrainingJobStatus.STOPPING)
    supervisor.guarded(lambda: _resume(supervisor, record.secondary_status))


def _desk(plan: JobPlan, engine: Engine) -> "Desk | None":
    if plan.credentials is None:
        return None
    from smlocal.job.credentials import Desk  # few jobs have one

    return Desk.of(plan, engine)


def _answer_again(supervisor: Supervisor) -> None:
    """The containers ask for credentials where the dead supervisor answered."""
    if supervisor.desk is None:
        return
    from smlocal.job.credentials import OPENED

    context = supervisor.context
    recorded = [_data(event) for event in context.store.events(context.job) if event.kind == OPENED]
    if recorded:
        supervisor.desk.reopen(recorded[-1])


def _count_the_past(supervisor: Supervisor) -> None:
    """Earlier attempts of this job, and how long they trained."""
    context = supervisor.context
    for event in context.store.events(context.job):
        data = _data(event)
        if event.kind == "restart":
            supervisor.number = int(data["Number"])
            supervisor.policy.used += data["Why"] == "retry"
            supervisor.policy.interruptions += data["Why"] == "interruption"
        elif event.kind == FAULT:
            supervisor.attempt.faults.count(int(data["Index"]))
    now = time.time()
    context.spent["training"] = sum(
        (now if transition.ended is None else transition.ended) - transition.started
        for transition in context.store.transitions(context.job)
        if transition.status is SecondaryStatus.TRAINING
    )


def _resume(supervisor: Supervisor, phase: SecondaryStatus) -> None:
    """Take up the attempt where its containers are."""
    attempt = supervisor.attempt
    states = _containers(supervisor)
    ran = {host: state for host, state in states.items() if state[1].status in _RAN and state[1].started_at > "0002"}
    stopping, grace = _recorded_story(attempt.context)
    if len(ran) < len(supervisor.plan.hosts):
        # It never came to training, or what it trained on is gone: nothing can be brought to an end.
        attempt.story = stopping
        if not attempt.over:
            attempt.story = Story(failure_reason=failure.INTERNAL_ERROR)
            attempt.explanation = f"smlocal was killed or the machine went down in the phase {phase}"
        supervisor.after_training()
        return
    _take_up_hosts(attempt, ran)
    _answer_again(supervisor)
    attempt.faults.training_began(time.monotonic() - _trained_for(attempt.context))
    attempt.story = stopping
    if not attempt.over and ended_with_the_engine([state for _, state in ran.values()], attempt.context.engine.began()):
        attempt.ran = True
        attempt.story = Story(failure_reason=failure.INTERNAL_ERROR)
        attempt.explanation = "the engine was restarted while nobody supervised the job"
        supervisor.after_training()
        return
    if supervisor.plan.fed and not attempt.over:
        # What read a FIFO saw its end when the feeder died, whatever it made of that.
        attempt.story = Story(failure_reason=failure.INTERNAL_ERROR)
        attempt.explanation = "smlocal was killed while it fed the job's channels"
        grace = supervisor.plan.stop.peer_grace
    # In the order in which they ended, which decides whose failure came first.
    for host, (_, state) in sorted(ran.items(), key=lambda item: item[1][1].finished_at):
        if state.status not in _RUNNING:
            attempt.runs[host].tell_end()
    attempt.resume_watching(_signals_sent(attempt.context), grace)
    for run in attempt.runs.values():
        run.complete_log()
    supervisor.after_training()


def _trained_for(context: Context) -> float:
    """How long the attempt has trained that is being taken up."""
    starts = [t.started for t in context.store.transitions(context.job) if t.status is SecondaryStatus.TRAINING]
    return time.time() - max(starts, default=time.time())


def _containers(supervisor: Supervisor) -> dict[str, tuple[str, ContainerState]]:
    """Id and state of each host's container that the engine still has."""
    engine = supervisor.context.engine
    found = {}
    with suppress(EngineError, MachineNotReadyError):
        for resource in owned_by(engine, supervisor.plan.name, supervisor.plan.run_id):
            host = resource.labels.get(HOST_LABEL)
            if resource.kind is ResourceKind.CONTAINER and host is not None:
                found[host] = (resource.id, engine.state(resource.id))
    return found


def ended_with_the_engine(states: Sequence[ContainerState], began: str) -> bool:
    """True when a container's failure is the engine's doing.

    One that restarts sends SIGTERM and then SIGKILL to what it finds running; after a power cut it calls everything
    ended. So whatever failed just before the engine's start is not held against the algorithm.
    """
    from datetime import datetime

    if not began:
        return False
    start = datetime.fromisoformat(began)
    return any(
        state.status not in _RUNNING
        and state.exit_code != 0
        and datetime.fromisoformat(state.started_at) < start
        and abs((datetime.fromisoformat(state.finished_at) - start).total_seconds()) < _ENGINE_STARTS_SECONDS
        for state in states
    )


def _take_up_hosts(attempt: Attempt, containers: dict[str, tuple[str, ContainerState]]) -> None:
    context = attempt.context
    logged = _logged_before(context)
    for host in attempt.plan.hosts:
        run = attempt.host_run(host)
        run.logged_before = logged.get(run.name, 0)
        run.take_up(containers[run.name][0])


def _recorded_story(context: Context) -> tuple[Story, float | None]:
    """A stop or an interruption that was written down for this attempt before the supervisor died, and its grace."""
    story, grace, asked = Story(), None, False
    for event in context.store.events(context.job):
        context.ear.heard += 1
        data = _data(event)
        if event.kind in {INTERRUPT, "interruption", "restart"}:
            asked = event.kind == INTERRUPT
        if event.kind == STOP:
            story, grace = Story(stopped=StopCause(data["Cause"])), data.get("Grace", grace)
        elif event.kind == "interruption" and story.stopped is None:
            story = Story(interrupted=True)
        elif event.kind == "restart":
            story = Story()
    if asked:
        # Word that nobody came to hear.
        context.events.put(Interrupted())
    return story, grace


def _logged_before(context: Context) -> dict[str, int]:
    """How much of each host's log is of attempts before this one."""
    logged: dict[str, int] = {}
    for event in context.store.events(context.job):
        if event.kind == "restart":
            logged.update(_data(event).get("Logged", {}))
    return logged


def _signals_sent(context: Context) -> dict[str, float]:
    """When each host was sent SIGTERM in this attempt, by the wall clock."""
    sent: dict[str, float] = {}
    for event in context.store.events(context.job):
        data = _data(event)
        if event.kind == SIGNAL and data.get("Signal") == "SIGTERM":
            sent[data["Host"]] = event.at
        elif event.kind == "restart":
            sent = {}
    return sent


def _data(event: Event) -> dict[str, Any]:
    return event.data if isinstance(event.data, dict) else {}
