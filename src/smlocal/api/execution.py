"""Runs a validated job, in this process or in one of its own. Used by commands and by Python calls."""

import os
from collections.abc import Callable
from dataclasses import replace as changed
from typing import TYPE_CHECKING

from smlocal.api.job_files import kind_of, prepare
from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines, engines_at, engines_named
from smlocal.errors import JobUnknownError, NotPackedError, SmlocalError
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobs.control import detach
from smlocal.jobs.control.requests import StopRequests, StopSignals
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.kinds import not_finished, preparing, spoken_of
from smlocal.jobs.prepared import Prepared, PreparedPlan, ReportFiles, find_credentials
from smlocal.jobs.store.home import home_directory, shells_directory
from smlocal.jobs.store.jobs import Store, name_in_use
from smlocal.jobs.supervision import Result, supervise
from smlocal.jobs.view import Reporter

if TYPE_CHECKING:
    from smlocal.jobs.finish.cleanup import clear_this_engine
    from smlocal.jobs.shells import remove_dead_shells
    from smlocal.jobs.spreading import prepare_spread
else:
    prepare_spread = at_use("smlocal.jobs.spreading", "prepare_spread")
    remove_dead_shells = at_use("smlocal.jobs.shells", "remove_dead_shells")
    clear_this_engine = at_use("smlocal.jobs.finish.cleanup", "clear_this_engine")


def execute(
    job: AskedJob,
    *,
    name: str,
    strict: bool,
    replace: bool,
    reporter: Reporter,
    requests: StopRequests,
    report: str | None = None,
    junit: str | None = None,
    where: Callable[[Callable[[], Result]], Result] = lambda supervise: supervise(),
) -> tuple[Result, list[SmlocalError]]:
    """Run a job to its end; returns also why its reports could not be written to `report` and `junit`.

    `where` calls what supervises the job, if need be in another thread. It returns when that has returned.
    """
    engines = _engines_of(job)
    with Store.open(home_directory()) as store:
        prepared = _prepare(job, store, engines, name=name, strict=strict, replace=replace, reporter=reporter)
        prepared = _with_report_files(prepared, report=report, junit=junit)
        addresses = prepared.plan.engine_addresses
        # What runs whole on one of several engines may have gone to one for its hosts.
        engines = engines_at(addresses) if job.local.SpreadOver else engines.only(addresses)
        not_reported = []
        try:
            result = where(
                lambda: supervise(
                    prepared, engines=engines, store=store, reporter=reporter, requests=requests, replace=replace
                )
            )
        finally:
            not_reported = _report(store, prepared)
    return result, not_reported


def execute_in_background(
    job: AskedJob,
    *,
    name: str,
    strict: bool,
    replace: bool,
    reporter: Reporter,
    report: str | None = None,
    junit: str | None = None,
) -> None:
    """Return as soon as the job has a supervisor, in a process of its own."""
    engines = _engines_of(job)
    with Store.open(home_directory()) as store:
        home = store.home
        prepared = _prepare(job, store, engines, name=name, strict=strict, replace=replace, reporter=reporter)
        prepared = _with_report_files(prepared, report=report, junit=junit)
    for note in prepared.plan.notes:
        if note.warning:
            reporter.warning(note.text)
    if isinstance(prepared, Prepared) and not detach.process_may_fork:
        # The server of the credentials cannot be sent to a new process, which finds the credentials again.
        prepared = changed(prepared, credentials=None)
    detach.start_in_background(supervise_prepared, prepared=prepared, home=home, replace=replace)


def supervise_prepared(
    ready: Callable[[], None],
    *,
    prepared: PreparedPlan,
    home: str,
    replace: bool,
) -> None:
    """Supervise a job in this process, which does nothing else."""
    engines = engines_at(prepared.plan.engine_addresses)
    if isinstance(prepared, Prepared) and prepared.credentials is None:
        prepared = changed(prepared, credentials=find_credentials(prepared.plan, engines))
    with Store.open(home) as store:
        try:
            supervise(
                prepared,
                engines=engines,
                store=store,
                reporter=Reporter(),
                requests=StopSignals(),
                on_supervising=ready,
                replace=replace,
            )
        finally:
            _report(store, prepared)


def check_name(name: str, *, replace: bool) -> None:
    """Refuse a name that a new job cannot have."""
    with Store.open(home_directory()) as store:
        check_job_name(store, name, replace=replace)


def _prepare(
    job: AskedJob,
    store: Store,
    engines: Engines,
    *,
    name: str,
    strict: bool,
    replace: bool,
    reporter: Reporter,
) -> PreparedPlan:
    """Everything before the job is made. Mistakes are an error."""
    check_job_name(store, name, replace=replace)
    if os.path.isdir(shells_directory(store.home)):
        remove_dead_shells(store.home)
    if store.left_on_engines():
        for engine in engines:
            for each in clear_this_engine(store, engine):
                reporter.warning(f"removed what the job {each} left on this engine")
    if not job.local.SpreadOver:
        return prepare(job, name=name, home=store.home, engines=engines, reporter=reporter, strict=strict)
    part = preparing(kind_of(job.document.data).name)
    return prepare_spread(
        lambda engines: prepare(job, name=name, home=store.home, engines=engines, reporter=reporter, strict=strict),
        part.workload(job),
        job.local,
        home=store.home,
        name=name,
        run_id=None,
        here=part.HERE,
        endless=part.ENDLESS,
        reporter=reporter,
    )


def _engines_of(job: AskedJob) -> Engines:
    """All that its file names. Nothing is sent."""
    return engines_named(job.local.SpreadOver or job.local.Engines)


def _with_report_files(prepared: PreparedPlan, *, report: str | None, junit: str | None) -> PreparedPlan:
    if report is None and junit is None:
        return prepared

    return changed(prepared, report_files=ReportFiles.at(result=report, junit=junit))


def _report(store: Store, prepared: PreparedPlan) -> list[SmlocalError]:
    if prepared.report_files is None:
        return []
    from smlocal.jobs.finish.report_files import write_report_files

    return write_report_files(prepared.report_files, store, prepared.plan.name, run_id=prepared.plan.run_id)


def check_job_name(store: Store, name: str, *, replace: bool) -> None:
    """Refuse a name that is in use."""
    try:
        record = store.get(name)
    except JobUnknownError:
        return
    if not replace:
        running = None if record.status.terminal else name
        raise name_in_use(name, job=spoken_of(record).job, running=running)
    if not record.status.terminal:
        only = "--replace removes finished jobs only; choose another name with --name (in Python name=...)"
        raise not_finished(record, f"{only}, or first: smlocal rm --stop {name}")
    artifacts = (store.document(name, LOCAL) or {}).get("Artifacts", {})
    kept = [*filter(None, [artifacts.get("Kept")]), *artifacts.get("NotSaved", {}).values()]
    if kept:
        raise NotPackedError(
            f"The output of the job '{name}' has not been packed, and --replace would delete it.",
            details=kept,
            remedy=[f"Pack it: smlocal pack {name} --output DIR", f"Or delete it: smlocal rm {name}"],
        )
