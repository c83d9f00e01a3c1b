"""Jobs of this platform in answers and on screens: `jobs.kinds.Showing`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from smlocal.ai_platform.answer import DOCUMENTS, answer_of, error_at, kind_of, list_of, state_word, timestamp
from smlocal.ai_platform.answer import answer_of as describe
from smlocal.ai_platform.replicas import called_replicas, replicas
from smlocal.ai_platform.shape import job_kind
from smlocal.ai_platform.views_of_jobs import described_rows as rows
from smlocal.ai_platform.views_of_jobs import start_of
from smlocal.ai_platform.views_of_jobs import view_of as view
from smlocal.jobs.kinds import Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, StartView
from smlocal.terms.metric_values import MetricPattern

__all__ = [
    "DOCUMENTS",
    "describe",
    "described_rows",
    "host_called",
    "host_names",
    "listed",
    "metrics",
    "not_interruptible",
    "request_only",
    "spoken",
    "start",
    "still_to_come",
    "view",
    "words",
]


def still_to_come(stored: StoredJob) -> dict[str, Any]:
    """When the error will be attached."""
    at = error_at(stored)
    return {} if at is None else {"ErrorExpected": timestamp(at)}


def request_only(request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - nothing is left out
    """The answer has the whole request."""
    return {}


def listed(record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
    """A member of `jobs` or `customJobs`, as `describe` answers it, and its name on this machine."""
    return list_of(record), {**answer_of(read()), "JobName": record.name}


def words(record: JobRecord) -> tuple[str, str]:
    """The state says everything."""
    return state_word(record, kind_of(record)), ""


def spoken(record: JobRecord) -> Spoken:
    """A job is cancelled here, and the services say nothing of a grace period."""
    kind, (state, _) = kind_of(record).spoken, words(record)
    return Spoken(
        job=kind,
        ended=f"The {kind} '{record.name}' has ended: it is {state}.",
        stopping="cancelling",
        longest_grace=None,
        no_metrics="has no metrics: its service looks for none in the logs",
        no_tensors="saves no tensors: its service has no debugger",
        no_artifacts="The files that its replicas wrote to buckets are already in folders of this machine.",
    )


def start(plan: JobPlan) -> StartView:
    """The replicas and their machines."""
    return start_of(plan)


def described_rows(view: JobView, *, supervised: bool) -> Iterable[tuple[str, str]]:
    """The request, the result and the history."""
    return rows(view, supervised=supervised)


def host_names(record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:
    """`master-0`, `workerpool0-0` and so on."""
    given = request()
    return [each.host for each in replicas(job_kind(given), given, job=record.name)]


def host_called(record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:
    """`master 0` of messages, the replica's own host name, and a group that has only one replica."""
    given = request()
    return called_replicas(replicas(job_kind(given), given, job=record.name))


def metrics(request: Mapping[str, Any]) -> tuple[MetricPattern, ...]:  # noqa: ARG001 - has none
    """The service finds no metrics in logs."""
    return ()


def not_interruptible(request: Mapping[str, Any]) -> tuple[str, str]:  # noqa: ARG001 - no job is
    """The maintenance of a machine is simulated as the job file says."""
    return (
        "has no spot interruptions",
        "To simulate the maintenance of a machine, write a fault of the kind Maintenance into Local.Faults.",
    )
