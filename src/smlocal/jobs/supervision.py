"""How a job gets its supervisor: it is recorded, unless it was submitted, and run to its end in this process.

The way of a job goes down from here: a `Supervisor` takes it to its end. That of a job with containers, a
`ContainerSupervisor`, takes it through its attempts, `Attempt` through the phases of one, `HostRun` is one host of an
attempt, and `ContainerRun` its container.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.context import ContainerContext, Context, Phases, new_token
from smlocal.jobs.control.requests import StopRequests, StoredRequests
from smlocal.jobs.documents import JOB, PLAN, RECALL, REPLACED, REPORT_FILES, REQUEST
from smlocal.jobs.finish.describe import DESCRIBE, reserve_space, view_job, write_copy
from smlocal.jobs.kind import module_of
from smlocal.jobs.kinds import preparing
from smlocal.jobs.planning.model import RecordedPlan, placement
from smlocal.jobs.planning.recall import remember
from smlocal.jobs.prepared import Prepared, PreparedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.jobs.supervisor import Supervisor
from smlocal.jobs.view import JobView, Reporter
from smlocal.terms.statuses import JobStatus, PhaseMessage

if TYPE_CHECKING:
    from smlocal.jobs.finish.artifacts import artifacts_to_replace
    from smlocal.jobs.finish.cleanup import clear_kept
else:
    artifacts_to_replace = at_use("smlocal.jobs.finish.artifacts", "artifacts_to_replace")
    clear_kept = at_use("smlocal.jobs.finish.cleanup", "clear_kept")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """How a job ended."""

    view: JobView
    """With the last describe answer."""
    signal: int | None
    """The signal that stopped it, if one did."""

    @property
    def answer(self) -> Mapping[str, Any]:
        """The last describe answer."""
        return self.view.answer

    @property
    def status(self) -> JobStatus:
        """How the job has ended."""
        return self.view.status


def supervise(
    prepared: PreparedPlan,
    *,
    engines: Engines,
    store: Store,
    reporter: Reporter,
    requests: StopRequests,
    on_supervising: Callable[[], None] = lambda: None,
    replace: bool = False,
) -> Result:
    """Record the job and run it to its end.

    `requests`: `StopSignals` in a process of its own, `StopRequests` in any thread. `on_supervising` is called once the
    job is recorded and this process is its supervisor. `replace`: forget a finished job of the same name.
    """
    plan = prepared.plan
    if replace:
        for each in clear_kept(store, plan.name):
            reporter.warning(each)
    documents = {REQUEST: dict(plan.request), PLAN: _shown(plan)}
    with requests, prepared.ready(), _record(prepared, documents, store, requests, replace=replace):
        context = make_context(plan.name, store=store, reporter=reporter, stop_requests=requests)

        def begin() -> None:
            on_supervising()
            context.phases.begin()

        view = _run_to_the_end(prepared, documents, context, engines, begin)
    return Result(view=view, signal=requests.signal)


def _shown(plan: RecordedPlan) -> dict[str, Any]:
    """The plan as it is stored for people and programs."""
    document: dict[str, Any] = preparing(plan.platform).plan_document(plan)
    return {**document, **placement(plan)}


def _record(
    prepared: PreparedPlan, documents: Mapping[str, Any], store: Store, requests: StopRequests, *, replace: bool
) -> Lease:
    plan = prepared.plan
    replaced = artifacts_to_replace(store, plan.name) if replace else {}
    return store.create(
        plan.name,
        run_id=plan.run_id,
        created=time.time(),
        documents={
            **documents,
            RECALL: remember(plan),
            JOB: prepared.job,
            **({} if prepared.report_files is None else {REPORT_FILES: prepared.report_files.as_document()}),
            **({REPLACED: replaced} if replaced else {}),
        },
        supervisor_pid=os.getpid(),
        arn=plan.identity.arn,
        model_uri=plan.model_uri,
        instances=len(plan.host_names),
        platform=plan.platform,
        message=PhaseMessage.PREPARING,
        replace=replace,
        begin=requests.accept_wakeups,
    )


def supervise_submitted(
    prepared: PreparedPlan, *, engines: Engines, store: Store, reporter: Reporter, requests: StopRequests
) -> None:
    """Run a job that was recorded before it was prepared to its end. This process holds its lease.

    `ready()` of `prepared`, which can show what this machine lacks, has been entered.
    """
    plan = prepared.plan
    documents = {REQUEST: dict(plan.request), PLAN: _shown(plan)}
    # From here on a later supervisor continues the job, and does not begin it again. The recorded request stays: its
    # tags may have been changed.
    store.put_documents(plan.name, {PLAN: documents[PLAN], RECALL: remember(plan)})
    context = make_context(plan.name, store=store, reporter=reporter, stop_requests=requests)
    past = store.transitions(plan.name)
    _run_to_the_end(
        prepared, documents, context, engines, lambda: context.phases.resume(past, stopping=False, ended=None)
    )


def _run_to_the_end(
    prepared: PreparedPlan,
    documents: Mapping[str, Any],
    context: Context,
    engines: Engines,
    begin: Callable[[], None],
) -> JobView:
    """Returns the job as it is at the end. `begin` is called when the copies of the documents are written."""
    plan, store = prepared.plan, context.store
    directory = store.directory(plan.name)
    supervisor = _new_supervisor(prepared, context, engines)

    def run() -> None:
        for kind, document in documents.items():
            write_copy(directory, kind, document)
        reserve_space(directory)
        begin()
        supervisor.begin()
        context.reporter.planned(plan)
        supervisor.run()

    supervisor.run_and_finish(run)
    view = view_job(store, plan.name, final=True)
    write_copy(directory, DESCRIBE, view.answer)
    return view


def _new_supervisor(prepared: PreparedPlan, context: Context, engines: Engines) -> Supervisor:
    kind = supervisor_of(prepared.plan.platform)
    if isinstance(prepared, Prepared) and issubclass(kind, ContainerSupervisor):
        return kind(
            context=ContainerContext.of(context, engines),
            plan=prepared.plan,
            pull_refused=prepared.pull_refused,
            credentials=prepared.credentials,
        )
    return kind(context=context, plan=prepared.plan)


def make_context(job: str, *, store: Store, reporter: Reporter, stop_requests: StopRequests) -> Context:
    """The tools of the supervisor of a recorded job."""
    return Context(
        job=job,
        store=store,
        reporter=reporter,
        events=stop_requests.events,
        stop_requests=stop_requests,
        stored_requests=StoredRequests(store=store, job=job, token=new_token()),
        phases=Phases(store=store, job=job, reporter=reporter, events=stop_requests.events),
        created=store.get(job).created,
    )


def supervisor_of(kind: str) -> type[Supervisor]:
    """The class of the supervisors of such jobs."""
    found: type[Supervisor] = module_of(kind, "supervisor").SUPERVISOR
    return found
