"""Writes the result of a job to files that the user chooses, completely or not at all: the answer, and JUnit."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from smlocal.base.ci.reports import Case, CaseVerdict, Suite, junit
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.documents import LOCAL, REPORT_FILES
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.finish.report_path import write_report
from smlocal.jobs.kinds import showing
from smlocal.jobs.logs.log_readers import host_logs, read_log_tail
from smlocal.jobs.prepared import ReportFiles
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.terms.made_names import without_time
from smlocal.terms.statuses import JobStatus

_GROUP = "smlocal.job"


def write_report_files(files: ReportFiles, store: Store, name: str, *, run_id: str) -> list[SmlocalError]:
    """Write them, if this run made a job.

    Returns the files that could not be written, to be shown after the summary.
    """
    written = (
        _write(files.result, store, name, run_id, lambda: _result(store, name)),
        _write(files.junit, store, name, run_id, lambda: _junit(store, name)),
    )
    return [error for error in written if error is not None]


def write_recorded_report_files(store: Store, name: str) -> None:
    """For a job that another process has begun. Errors are ignored: `describe` has the same data."""
    recorded = store.document(name, REPORT_FILES)
    if recorded is not None:
        files = ReportFiles(result=recorded["Result"], junit=recorded["JUnit"])
        write_report_files(files, store, name, run_id=store.get(name).run_id)


def _result(store: Store, name: str) -> str:
    return f"{json.dumps(describe_job(store, name, final=True), indent=2)}\n"


def _junit(store: Store, name: str) -> str:
    return junit([job_suite(store, (name,))])


def _write(path: str | None, store: Store, name: str, run_id: str, text: Callable[[], str]) -> SmlocalError | None:
    if path is None:
        return None
    try:
        # Another job may have the name: this run did not make one then.
        with suppress(JobUnknownError):
            if store.get(name).run_id == run_id:
                write_report(path, text())
    except SmlocalError as error:
        return error
    return None


def job_suite(store: Store, names: Sequence[str]) -> Suite:
    """One case for each of these jobs, ended or not.

    CI services follow a case from run to run by its name, so it is without the time in the name of the job, unless
    there are two of them.
    """
    jobs = list(dict.fromkeys(names))
    count = Counter(map(without_time, jobs))
    cases = tuple(
        _job_case(store, name, shown=name if count[without_time(name)] > 1 else without_time(name)) for name in jobs
    )
    began = min((store.get(name).created for name in jobs), default=None)
    return Suite(name="training jobs", cases=cases, began=began)


def _job_case(store: Store, name: str, *, shown: str) -> Case:
    """Only a job that is `Completed` has passed. `shown`: the name of the case."""
    stored = store.read(name, (LOCAL,))
    job, reason = stored.record, _reason(stored.record)
    state, _ = showing(job.platform).words(job)
    passed = job.status is JobStatus.COMPLETED
    return Case(
        name=shown,
        group=_GROUP,
        seconds=job.modified - job.created,
        verdict=CaseVerdict.PASSED if passed else CaseVerdict.FAILED,
        kind=state,
        message="" if passed else (reason.splitlines() or [""])[0],
        text="" if passed else "\n".join((reason, *_explanation(stored.documents.get(LOCAL, {})))),
        output="\n".join((*([] if shown == name else [f"job {name}"]), _log_tails(store, name))),
    )


def _log_tails(store: Store, name: str) -> str:
    """The last lines of the log of each host."""
    tails = [read_log_tail(host, path) for host, path in host_logs(store, name).items()]
    heads = len(tails) > 1
    return "\n".join(
        "\n".join((*([f"{tail.host}:"] if heads else []), *([] if tail.complete else ["…"]), *tail.lines))
        for tail in tails
        if tail is not None
    )


def _reason(job: JobRecord) -> str:
    if job.failure_reason is not None:
        return job.failure_reason
    state, more = showing(job.platform).words(job)
    return f"the job is {state}" + (f" ({more})" if more not in {"", state} else "")


def _explanation(local: Mapping[str, Any]) -> Iterator[str]:
    if local.get("Explanation"):
        yield f"because: {local['Explanation']}"
    yield from (f"hint: {hint}" for hint in local.get("Hints") or ())
