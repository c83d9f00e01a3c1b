"""Bring a job to its true end whose supervisor is gone: killed, or down with the machine."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from smlocal.artifacts.drafts import remove_drafts
from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import Ending, SecondaryStatus, StatusMessage, TrainingJobStatus
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.control.ended_hosts import ended_hosts
from smlocal.job.control.found_containers import Found, find
from smlocal.job.control.history import Past, read_past
from smlocal.job.control.signals import StopSignals
from smlocal.job.decide.attempt_outcome import Story
from smlocal.job.decide.events import HostExited
from smlocal.job.finish.cleanup import clear_disk, clear_engine
from smlocal.job.finish.collect import give_back
from smlocal.job.finish.describe import DECISION, JOB, LOCAL, NOT_ADOPTED, RECALL
from smlocal.job.finish.disk_reserve import give_room
from smlocal.job.finish.document_copies import keep_copies
from smlocal.job.finish.replaced import drop_replaced
from smlocal.job.finish.unpacked import keep
from smlocal.job.prepare.prepare import plan_again
from smlocal.job.reporter import Silent
from smlocal.job.supervisor import Supervisor, end_job, make_context, remember_left
from smlocal.planning.model import JobPlan
from smlocal.planning.recall import recall
from smlocal.store.jobs import Store
from smlocal.store.records import Transition

if TYPE_CHECKING:
    from smlocal.job.credential_endpoint import CredentialEndpoint

_WITH_CONTAINERS = {SecondaryStatus.TRAINING, SecondaryStatus.STOPPING, SecondaryStatus.INTERRUPTED}
"""The phases that end with the last container."""


def adopt(
    store: Store, name: str, connect_to: Callable[[str], Engine], owned: Callable[[], None] = lambda: None
) -> bool:
    """Supervise an orphan to its end; False when it needs nobody (any more).

    An engine that does not say what has become of its containers leaves the job as it is: its error is raised, and
    kept for whoever asks why.
    """
    with StopSignals() as signals:
        lease = store.take_over(name, os.getpid())
        if lease is None:
            return False
        with lease:
            signals.listen_in(store.directory(name))
            owned()
            plan = recall(store.document(name, RECALL))
            remove_drafts(f"{plan.output.directory}/output", plan.run_id)
            try:
                engine = connect_to(plan.engine.address)
                engine.facts()
                if not _only_cleaning_was_left(store, plan, engine):
                    _bring_to_its_end(store, plan, engine, signals)
            except (EngineError, MachineNotReadyError) as error:
                store.put_document(name, NOT_ADOPTED, {"At": time.time(), "Why": error.sentence})
                raise
            keep_copies(store, name)  # the first supervisor may have died over any of them
    return True


def _only_cleaning_was_left(store: Store, plan: JobPlan, engine: Engine) -> bool:
    """The dead supervisor had decided already: what is left is to clean up and to say so."""
    name = plan.name
    local = store.document(name, LOCAL)
    if local is None or DECISION not in local:
        return False
    decision = local[DECISION]
    give_room(store.directory(name))
    runs = ended_hosts(plan, engine)
    logged = read_past(store.events(name)).logged
    for run in runs:
        run.logged_before = logged.get(run.name, 0)
        run.complete_log()
    give_back(runs, engine)
    artifacts = local["Artifacts"]
    unkept = keep(plan) if artifacts.get("Kept") else []
    left = clear_engine(engine, name, plan.run_id, engine_lost=True)
    if left:
        remember_left(store, plan)
    else:
        store.forget_left(plan.run_id)
    left += unkept
    left += clear_disk(store.directory(name))
    completed = decision["Status"] == TrainingJobStatus.COMPLETED
    notes = drop_replaced(store, name, artifacts, completed=completed)
    if left or notes:
        artifacts = {**artifacts, "Notes": [*artifacts["Notes"], *notes]}
        store.put_document(name, LOCAL, {**local, "Artifacts": artifacts, "Leftovers": [*local["Leftovers"], *left]})
    ended = Ending(
        status=TrainingJobStatus(decision["Status"]),
        secondary=SecondaryStatus(decision["Secondary"]),
        message=StatusMessage(decision["Message"]),
    )
    end_job(store, name, ended, decision["Reason"])
    return True


def _bring_to_its_end(store: Store, plan: JobPlan, engine: Engine, signals: StopSignals) -> None:
    found = find(engine, plan)  # raises the engine's error: then nothing is decided
    name = plan.name
    record, transitions, past = store.get(name), store.transitions(name), read_past(store.events(name))
    context = make_context(name, engine=engine, store=store, reporter=Silent(), signals=signals)
    context.ear.heard = past.heard
    supervisor = Supervisor(
        context=context,
        plan=plan,
        credentials=_credentials(plan, engine),
        renew=lambda: plan_again(store.document(name, JOB), plan, home=store.home, engine=engine),
    )
    _count_attempts(supervisor, past)
    ended = found.ended_at if record.secondary_status in _WITH_CONTAINERS else None
    stopping = record.status is TrainingJobStatus.STOPPING
    context.phases.take_up(transitions, stopping=stopping, ended=ended)
    trained = _seconds_of_training(transitions, ended)
    context.spent["training"] = sum(trained)
    supervisor.attempt.faults.training_began(time.monotonic() - (trained[-1] if trained else 0.0))
    supervisor.guarded(lambda: _resume(supervisor, past, found, record.secondary_status))


def _credentials(plan: JobPlan, engine: Engine) -> "CredentialEndpoint | None":
    if plan.credentials is None:
        return None
    from smlocal.job.credential_endpoint import CredentialEndpoint  # few jobs have one

    return CredentialEndpoint.of(plan, engine)


def _answer_again(supervisor: Supervisor) -> None:
    """The containers ask for credentials where the dead supervisor answered."""
    if supervisor.credentials is None:
        return
    from smlocal.job.credential_endpoint import OPENED

    context = supervisor.context
    recorded = [event.data for event in context.store.events(context.job) if event.kind == OPENED]
    if recorded and isinstance(recorded[-1], Mapping):
        supervisor.credentials.reopen(recorded[-1])


def _count_attempts(supervisor: Supervisor, past: Past) -> None:
    supervisor.number = past.number
    supervisor.policy.used, supervisor.policy.interruptions = past.retries, past.interruptions
    for index in past.faults:
        supervisor.attempt.faults.count(index)


def _seconds_of_training(transitions: Sequence[Transition], ended: float | None) -> list[float]:
    """Of each attempt that came to it; `ended`: when the last one did, if it has."""
    until = time.time() if ended is None else ended
    return [
        max(0.0, (until if transition.ended is None else transition.ended) - transition.started)
        for transition in transitions
        if transition.status is SecondaryStatus.TRAINING
    ]


def _resume(supervisor: Supervisor, past: Past, found: Found, phase: SecondaryStatus) -> None:
    """Take up the attempt where its containers are."""
    attempt, grace = supervisor.attempt, past.grace
    attempt.story = past.story
    if len(found.hosts) < len(supervisor.plan.hosts):
        # It never came to training, or what it trained on is gone: nothing can be brought to an end.
        if not attempt.over:
            attempt.story = Story(failure_reason=failure_reason.INTERNAL_ERROR)
            attempt.explanation = f"smlocal was killed or the machine stopped in phase {phase}"
        supervisor.after_training()
        return
    for host in attempt.plan.hosts:
        run = attempt.host_run(host)
        run.logged_before = past.logged.get(run.name, 0)
        run.take_over(found.hosts[run.name].container, running=found.hosts[run.name].running)
        run.complete_log()
    _answer_again(supervisor)
    if not attempt.over and found.ended_with_the_engine:
        attempt.ran = True
        attempt.story = Story(failure_reason=failure_reason.INTERNAL_ERROR)
        attempt.explanation = "the engine was restarted while the job had no supervisor"
        supervisor.after_training()
        return
    if supervisor.plan.fed and not attempt.over:
        # What read a FIFO saw its end when the feeder died, whatever it made of that.
        attempt.story = Story(failure_reason=failure_reason.INTERNAL_ERROR)
        attempt.explanation = "smlocal was killed while it streamed Pipe channels"
        grace = supervisor.plan.stop.peer_grace
    # In the order in which they ended, which decides whose failure came first.
    ended = [
        HostExited(host=name, exit_code=host.state.exit_code, oom_killed=host.state.oom_killed)
        for name, host in sorted(found.hosts.items(), key=lambda item: item[1].state.finished_at)
        if not host.running
    ]
    attempt.resume_watching(past, ended, grace)
    for run in attempt.runs.values():
        run.complete_log()
    supervisor.after_training()
