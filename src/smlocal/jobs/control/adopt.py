"""Supervise a job without a supervisor to its end.

It was killed or the machine stopped, or the job was submitted and has not begun yet.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import chain

from smlocal.data.artifacts.atomic_write import remove_partial
from smlocal.engine.engines import Engines, connect, engines_at
from smlocal.engine.http import chosen_timeouts
from smlocal.errors import EngineError, EngineLostError, EngineUnreachableError, MachineNotReadyError, SmlocalError
from smlocal.jobs.container_supervisor import ContainerSupervisor, remember_left
from smlocal.jobs.context import ContainerContext, Context
from smlocal.jobs.control.found_containers import find_containers, hosts_with_containers, remove_unseen
from smlocal.jobs.control.requests import StopSignals
from smlocal.jobs.decide.events import StagingStoppedError, unexpected_error
from smlocal.jobs.documents import DECISION, JOB, LOCAL, NOT_ADOPTED, RECALL, decided_ending
from smlocal.jobs.finish.artifacts import delete_replaced, keep_unpacked, restore_ownership
from smlocal.jobs.finish.cleanup import clear_disk, clear_engines, clear_this_engine
from smlocal.jobs.finish.describe import (
    has_kept_containers,
    keeps_containers,
    mark_containers_kept,
    release_space,
    write_copies,
)
from smlocal.jobs.finish.unprepared import fail_unprepared, fail_with, stop_unprepared
from smlocal.jobs.history import BEGINNING, STOP, Past, read_past
from smlocal.jobs.host.staging import mount_again
from smlocal.jobs.kinds import preparing
from smlocal.jobs.mirrored.saving import keep_not_saved
from smlocal.jobs.planning.model import JobPlan, RecordedPlan
from smlocal.jobs.planning.recall import recall
from smlocal.jobs.prepared import PreparedPlan, credentials_of
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import LeftOnEngine, Transition
from smlocal.jobs.supervision import make_context, supervise_submitted, supervisor_of
from smlocal.jobs.supervisor import Supervisor, end_job
from smlocal.jobs.view import Reporter
from smlocal.terms.statuses import INTERNAL_ERROR, NO_CAPACITY, JobPhase, JobStatus, PhaseMessage, StopCause

_WITH_CONTAINERS = {JobPhase.TRAINING, JobPhase.STOPPING, JobPhase.INTERRUPTED}
"""The phases that end with the last container."""
_PAUSE = 0.5
"""Seconds between two looks for an engine."""
_MOST_BEGINNINGS = 3
"""A job that ends its process each time it is prepared is not begun for ever."""


def adopt(store: Store, name: str, on_supervising: Callable[[], None] = lambda: None) -> bool:
    """Supervise an orphan to its end; False if it has ended or has a supervisor. A submitted job may have to be begun.

    If an engine cannot say what has become of the containers, the job is not changed; the error is raised, and stored
    for later readers.
    """
    with StopSignals() as requests:
        deleted = not os.path.isdir(store.directory(name))
        lease = store.take_over(name, os.getpid())
        if lease is None:
            return False
        with lease:
            requests.accept_wakeups(store.directory(name))
            on_supervising()
            recalled = store.document(name, RECALL)
            if recalled is None:
                begin_submitted(store, name, requests)
                return True
            plan = recall(recalled)
            kind = supervisor_of(plan.platform)
            if isinstance(plan, JobPlan) and issubclass(kind, ContainerSupervisor):
                _adopt_containers(kind, store, plan, requests, deleted=deleted)
            elif not _ended_as_decided(store, name):
                _go_on(kind, store, plan, requests)
            write_copies(store, name)  # the first supervisor may not have written them all
    return True


def _ended_as_decided(store: Store, name: str) -> bool:
    """End a job without containers if the first supervisor had decided how; False if it had not."""
    decision = (store.document(name, LOCAL) or {}).get(DECISION)
    if decision is None:
        return False
    release_space(store.directory(name))
    end_job(store, name, decided_ending(decision), decision["Reason"])
    return True


def _go_on(kind: type[Supervisor], store: Store, plan: RecordedPlan, requests: StopSignals) -> None:
    """Supervise a job without containers to its end."""
    name = plan.name
    record, past = store.get(name), read_past(store.events(name))
    supervisor = kind(context=_context(store, name, past, requests), plan=plan)
    stopping = record.status is JobStatus.STOPPING
    supervisor.context.phases.resume(store.transitions(name), stopping=stopping, ended=None)
    supervisor.run_and_finish(lambda: supervisor.resume(past, record.phase))


def _context(store: Store, name: str, past: Past, requests: StopSignals) -> Context:
    context = make_context(name, store=store, reporter=Reporter(), stop_requests=requests)
    context.stored_requests.events_read = past.events_read
    return context


def _adopt_containers(
    kind: type[ContainerSupervisor], store: Store, plan: JobPlan, requests: StopSignals, *, deleted: bool
) -> None:
    """`deleted`: the folder of the job was removed."""
    remove_partial(f"{plan.output.directory}/output", plan.run_id)
    try:
        engines = engines_at(plan.engine_addresses)
        if plan.spread and (lost := _not_back(engines)) is not None:
            _end_without_engine(store, plan, lost)
            return
        for engine in engines:
            engine.facts()
        _mount_volumes(plan, engines)
        if not _finish_cleanup(kind, store, plan, engines):
            if deleted:
                _end_without_folder(store, plan, engines)
            else:
                _continue(kind, store, plan, engines, requests)
    except (EngineError, MachineNotReadyError) as error:
        store.put_document(plan.name, NOT_ADOPTED, {"At": time.time(), "Why": error.sentence})
        raise


def _not_back(engines: Engines) -> SmlocalError | None:
    """Why the engine of a job that may have run on another one does not answer; it gets the usual time to come back."""
    until = time.monotonic() + chosen_timeouts().lost
    while True:
        try:
            for engine in engines:
                engine.facts()
        except (EngineLostError, EngineUnreachableError) as error:
            if time.monotonic() >= until:
                return error
            time.sleep(_PAUSE)
        else:
            return None


def _end_without_engine(store: Store, plan: JobPlan, lost: SmlocalError) -> None:
    """End it as lost, so that what leads it goes on with other engines, or as its first supervisor has decided."""
    decision = (store.document(plan.name, LOCAL) or {}).get(DECISION)
    remember_left(store, plan, plan.engine_addresses)
    release_space(store.directory(plan.name))
    clear_disk(store.directory(plan.name))
    if decision is not None:
        end_job(store, plan.name, decided_ending(decision), decision["Reason"])
    else:
        fail_with(store, plan.name, NO_CAPACITY, explanation=f"its engine is lost: {lost.sentence}")


def _mount_volumes(plan: JobPlan, engines: Engines) -> None:
    """A restart of the machine unmounts the volumes, so the folders of the hosts are empty until now."""
    if not any(host.limits.disk for host in plan.hosts):
        return
    for run in hosts_with_containers(engines, plan):
        try:
            mount_again(plan, run.host)
        except OSError as error:
            raise MachineNotReadyError(f"the volume of {run.name} cannot be mounted: {error.strerror}") from error


def _finish_cleanup(kind: type[Supervisor], store: Store, plan: JobPlan, engines: Engines) -> bool:
    """Clean up and end the job if the first supervisor had already decided how it ends; False if it had not."""
    name = plan.name
    local = store.document(name, LOCAL)
    if local is None or DECISION not in local:
        return False
    decision = local[DECISION]
    release_space(store.directory(name))
    runs = hosts_with_containers(engines, plan)
    logged = kind.logged_before(store, name)
    for run in runs:
        run.logged_before = logged.get(run.name, 0)
        run.complete_log()
    restore_ownership(runs)
    artifacts = local["Artifacts"]
    not_kept = keep_unpacked(plan) if artifacts.get("Kept") else []
    if kept_folders := artifacts.get("NotSaved"):
        not_kept += keep_not_saved(plan, kept_folders)
    kept = keeps_containers(plan, JobStatus(decision["Status"])) and mark_containers_kept(store.directory(name))
    on_engines = {} if kept else clear_engines(engines, name, plan.run_id, engine_lost=True)
    for address in plan.engine_addresses:
        store.delete_leftovers(LeftOnEngine(run_id=plan.run_id, name=name, engine=address))
    remember_left(store, plan, on_engines)
    leftovers = [*chain(*on_engines.values()), *not_kept, *([] if kept else clear_disk(store.directory(name)))]
    completed = decision["Status"] == JobStatus.COMPLETED
    notes = delete_replaced(store, name, artifacts, completed=completed)
    if leftovers or notes:
        artifacts = {**artifacts, "Notes": [*artifacts["Notes"], *notes]}
        leftovers = [*local["Leftovers"], *leftovers]
        store.put_document(name, LOCAL, {**local, "Artifacts": artifacts, "Leftovers": leftovers})
    end_job(store, name, decided_ending(decision), decision["Reason"])
    return True


def _end_without_folder(store: Store, plan: JobPlan, engines: Engines) -> None:
    """Fail the job: what its containers wrote is gone with the folder."""
    remember_left(store, plan, clear_engines(engines, plan.name, plan.run_id, engine_lost=False))
    why = f"the folder of the job was deleted while it had no supervisor: {store.directory(plan.name)}"
    fail_with(store, plan.name, INTERNAL_ERROR, explanation=why)


def _continue(
    kind: type[ContainerSupervisor], store: Store, plan: JobPlan, engines: Engines, requests: StopSignals
) -> None:
    found = find_containers(engines, plan)  # if this raises, nothing has been decided
    remove_unseen(engines, plan, found)
    name = plan.name
    record, transitions, past = store.get(name), store.transitions(name), read_past(store.events(name))
    context = ContainerContext.of(_context(store, name, past, requests), engines)
    supervisor = kind(
        context=context,
        plan=plan,
        found=found,
        credentials=credentials_of(plan, engines),
        plan_again=lambda: preparing(plan.platform).plan_again(
            store.document(name, JOB), plan, home=store.home, engines=engines
        ),
    )
    _count_attempts(supervisor, past)
    ended = found.ended_at if record.phase in _WITH_CONTAINERS else None
    stopping = record.status is JobStatus.STOPPING
    context.phases.resume(transitions, stopping=stopping, ended=ended)
    trained = _seconds_of_training(transitions, ended)
    context.training_seconds = sum(trained)
    supervisor.attempt.faults.training_began(time.monotonic() - (trained[-1] if trained else 0.0))

    def resume() -> None:
        supervisor.begin_rules(first=False)
        supervisor.resume(past, record.phase)

    supervisor.run_and_finish(resume)
    if len(found.hosts) < len(plan.hosts) and not has_kept_containers(plan.job_directory):
        # Engines go on with requests whose client was killed, such as one for a network. The next command looks again.
        remember_left(store, plan, plan.engine_addresses)


def _count_attempts(supervisor: ContainerSupervisor, past: Past) -> None:
    supervisor.policy.used, supervisor.policy.interruptions = past.retries, past.interruptions
    for index in past.faults:
        supervisor.attempt.faults.count(index)


def _seconds_of_training(transitions: Sequence[Transition], ended: float | None) -> list[float]:
    """The seconds of each attempt that was trained; `ended`: when the last one ended, if it has."""
    until = time.time() if ended is None else ended
    return [
        max(0.0, (until if transition.ended is None else transition.ended) - transition.started)
        for transition in transitions
        if transition.status is JobPhase.TRAINING
    ]


def begin_submitted(store: Store, name: str, requests: StopSignals) -> None:
    """Prepare and supervise it.

    This process holds its lease. Errors that prevent a job in `smlocal run` fail it here.
    """
    with ExitStack() as stack:
        try:
            if _began_too_often(store, name):
                why = f"smlocal was killed {_MOST_BEGINNINGS} times while it prepared this job"
                fail_with(store, name, INTERNAL_ERROR, explanation=why)
                return
            prepared = _prepare_unless_stopped(store, name, requests)
            if prepared is None:
                stop_unprepared(store, name)
                return
            stack.enter_context(prepared.ready())
        except SmlocalError as error:
            fail_unprepared(store, name, error)
            return
        except Exception as error:
            fail_with(store, name, INTERNAL_ERROR, explanation=unexpected_error(error))
            raise
        supervise_submitted(
            prepared,
            engines=engines_at(prepared.plan.engine_addresses),
            store=store,
            reporter=Reporter(),
            requests=requests,
        )


def _began_too_often(store: Store, name: str) -> bool:
    store.add_event(name, time.time(), BEGINNING, {})
    return sum(event.kind == BEGINNING for event in store.events(name)) > _MOST_BEGINNINGS


def _prepare_unless_stopped(store: Store, name: str, requests: StopSignals) -> PreparedPlan | None:
    """None if the job is to be stopped: by a stored request, or by a signal, which may come at any moment."""
    while store.get(name).status is not JobStatus.STOPPING:
        try:
            with requests.interruptible():
                return _prepare(store, name)
        except StagingStoppedError:
            while requests.events.next(0) is not None:
                pass
            if requests.signal is not None:
                data = {"Cause": StopCause.REQUEST, "Grace": None}
                store.add_request(name, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
    return None


def _prepare(store: Store, name: str) -> PreparedPlan:
    if store.left_on_engines():
        for _ in clear_this_engine(store, connect()):
            pass
    record = store.get(name)
    return preparing(record.platform).prepare_recorded(
        store.document(name, JOB), record, home=store.home, reporter=Reporter()
    )
