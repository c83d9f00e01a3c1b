"""A training job as a case of a JUnit file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.ci.cases import Case, Suite, Verdict
from smlocal.contract.made_names import without_time
from smlocal.contract.statuses import JobStatus
from smlocal.job.documents import LOCAL
from smlocal.job.logs.log_paths import host_logs
from smlocal.job.logs.log_tail import read_log_tail
from smlocal.job.platform import platform_named
from smlocal.store.jobs import Store
from smlocal.store.records import JobRecord

_GROUP = "smlocal.job"


def job_suite(store: Store, names: Sequence[str]) -> Suite:
    """One case for each of these jobs, ended or not.

    CI services follow a case from run to run by its name, so it is without the time in the name of the job, unless
    there are two of them.
    """
    jobs = list(dict.fromkeys(names))
    count = Counter(map(without_time, jobs))
    cases = tuple(
        job_case(store, name, shown=name if count[without_time(name)] > 1 else without_time(name)) for name in jobs
    )
    began = min((store.get(name).created for name in jobs), default=None)
    return Suite(name="training jobs", cases=cases, began=began)


def job_case(store: Store, name: str, *, shown: str) -> Case:
    """Only a job that is `Completed` has passed. `shown`: the name of the case."""
    stored = store.read(name, (LOCAL,))
    job, reason = stored.record, _reason(stored.record)
    state, _ = platform_named(job.platform).words(job)
    passed = job.status is JobStatus.COMPLETED
    return Case(
        name=shown,
        group=_GROUP,
        seconds=job.modified - job.created,
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        kind=state,
        message="" if passed else (reason.splitlines() or [""])[0],
        text="" if passed else "\n".join((reason, *_explanation(stored.documents.get(LOCAL, {})))),
        output="\n".join((*([] if shown == name else [f"job {name}"]), log_tails(store, name))),
    )


def log_tails(store: Store, name: str) -> str:
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
    state, more = platform_named(job.platform).words(job)
    return f"the job is {state}" + (f" ({more})" if more not in {"", state} else "")


def _explanation(local: Mapping[str, Any]) -> Iterator[str]:
    if local.get("Explanation"):
        yield f"because: {local['Explanation']}"
    yield from (f"hint: {hint}" for hint in local.get("Hints") or ())
