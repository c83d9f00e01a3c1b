"""A training job as a case of a JUnit file."""

from collections.abc import Iterator, Sequence
from typing import Any

from smlocal.ci.cases import Case, Suite, Verdict
from smlocal.job.finish.describe import describe_job
from smlocal.job.logs.log_paths import host_logs
from smlocal.job.logs.log_tail import read_log_tail
from smlocal.store.jobs import Store

_GROUP = "smlocal.job"


def job_suite(store: Store, names: Sequence[str]) -> Suite:
    """One case for each of these jobs, ended or not."""
    cases = tuple(job_case(store, name) for name in dict.fromkeys(names))
    began = min((store.get(case.name).created for case in cases), default=None)
    return Suite(name="training jobs", cases=cases, began=began)


def job_case(store: Store, name: str) -> Case:
    """Only a job that is `Completed` has passed."""
    answer = describe_job(store, name)
    status, reason = answer["TrainingJobStatus"], _reason(answer)
    passed = status == "Completed"
    return Case(
        name=name,
        group=_GROUP,
        seconds=answer["LastModifiedTime"] - answer["CreationTime"],
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        kind=status,
        message="" if passed else (reason.splitlines() or [""])[0],
        text="" if passed else "\n".join((reason, *_explanation(answer["Local"]))),
        output=log_tails(store, name),
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


def _reason(answer: dict[str, Any]) -> str:
    if "FailureReason" in answer:
        return str(answer["FailureReason"])
    status, secondary = answer["TrainingJobStatus"], answer["SecondaryStatus"]
    return f"the job is {status}" + (f" ({secondary})" if secondary != status else "")


def _explanation(local: dict[str, Any]) -> Iterator[str]:
    if local.get("Explanation"):
        yield f"because: {local['Explanation']}"
    yield from (f"hint: {hint}" for hint in local.get("Hints") or ())
