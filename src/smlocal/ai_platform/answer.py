"""The service's answer about a stored job."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from smlocal.ai_platform.identity import job_region, resource_name
from smlocal.ai_platform.lifecycle.states import ERROR_CODES, ErrorClass, JobState
from smlocal.ai_platform.model.members import ReplicaJobKind, is_structure, members
from smlocal.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.ai_platform.shape import job_kind
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.documents import JOB, PLAN, REQUEST
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.terms.statuses import JobPhase, JobStatus

DOCUMENTS: Final = (LIFECYCLE, JOB, PLAN)
_ERROR_DELAY: Final = 60.0
_UNKNOWN: Final = ERROR_CODES[ErrorClass.INTERNAL]
"""The code of a job that smlocal could not run."""
_STATES: Final = {
    JobStatus.COMPLETED: JobState.SUCCEEDED,
    JobStatus.FAILED: JobState.FAILED,
    JobStatus.STOPPING: JobState.CANCELLING,
    JobStatus.STOPPED: JobState.CANCELLED,
}
_STATES_OF_PHASES: Final = {
    JobPhase.PENDING: JobState.QUEUED,
    JobPhase.TRAINING: JobState.RUNNING,
    JobPhase.STOPPING: JobState.CANCELLING,
    JobPhase.COMPLETED: JobState.SUCCEEDED,
    JobPhase.FAILED: JobState.FAILED,
    JobPhase.STOPPED: JobState.CANCELLED,
    JobPhase.MAX_RUNTIME_EXCEEDED: JobState.CANCELLED,
    JobPhase.MAX_WAIT_TIME_EXCEEDED: JobState.CANCELLED,
}
FINAL: Final = frozenset(phase for phase, state in _STATES_OF_PHASES.items() if state.terminal)
"""The phases that are an end."""


def state_of(record: JobRecord) -> JobState:
    """The state of a job."""
    if record.status in _STATES:
        return _STATES[record.status]
    if record.phase is JobPhase.PENDING:
        return JobState.QUEUED
    return JobState.RUNNING if record.phase is JobPhase.TRAINING else JobState.PREPARING


def state_word(record: JobRecord, kind: ReplicaJobKind) -> str:
    """The state in the words of the job's kind."""
    return word_of(state_of(record), kind)


def state_word_of(phase: JobPhase, kind: ReplicaJobKind) -> str:
    """The state that a phase belongs to, in the words of the job's kind."""
    return word_of(_STATES_OF_PHASES.get(phase, JobState.PREPARING), kind)


def kind_of(record: JobRecord) -> ReplicaJobKind:
    """The kind of a job, by its resource name."""
    return ReplicaJobKind.CUSTOM_JOB if "/customJobs/" in record.arn else ReplicaJobKind.TRAINING_JOB


def answer_of(stored: StoredJob, *, final: bool = False) -> dict[str, Any]:
    """The Job or CustomJob. The error of a job appears about a minute after its end, or at once if `final`."""
    record, request = stored.record, stored.documents[REQUEST]
    kind = job_kind(request)
    local = ((stored.documents.get(JOB) or {}).get("Data") or {}).get("Local") or {}
    lifecycle = stored.documents.get(LIFECYCLE) or {}
    error = lifecycle.get("Error") or {}
    shown = record.status.terminal and (final or _delayed_until(stored) <= time.time())
    facts = ReplicaJobFacts(
        job=record.name,
        state=state_word(record, kind),
        created=record.created,
        updated=record.modified,
        started=(lifecycle.get("Progress") or {}).get("ran_at"),
        ended=record.ended if record.status.terminal else None,
        message=(record.failure_reason or error.get("message", "")) if shown else "",
        code=error.get("code", _UNKNOWN) if shown and record.failure_reason else None,
    )
    return describe(kind, request, facts, region=job_region(kind, request, stated=local.get("Region")))


def error_at(stored: StoredJob) -> float | None:
    """When the error of a job that has ended will appear; None if there is none, or it is there."""
    error = (stored.documents.get(LIFECYCLE) or {}).get("Error")
    if not stored.record.status.terminal or not (stored.record.failure_reason or error):
        return None
    at = _delayed_until(stored)
    return at if at > time.time() else None


def _delayed_until(stored: StoredJob) -> float:
    local = ((stored.documents.get(JOB) or {}).get("Data") or {}).get("Local") or {}
    return (stored.record.ended or 0.0) + float(local.get("ErrorDelaySeconds", _ERROR_DELAY))


def list_of(record: JobRecord) -> str:
    """The list of the service that a job is in."""
    return "customJobs" if kind_of(record) is ReplicaJobKind.CUSTOM_JOB else "jobs"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaJobFacts:
    """The known facts about a job. Times are seconds since 1970."""

    job: str
    """The name of the job on this machine."""
    state: str
    """In the words of the job's kind."""
    created: float
    updated: float
    started: float | None = None
    """When it was RUNNING for the first time."""
    ended: float | None = None
    message: str = ""
    """The error of a job that failed or was cancelled."""
    code: int | None = None
    """The code of its error; None until it is set, about a minute after the end."""


def describe(
    kind: ReplicaJobKind, request: Mapping[str, Any], facts: ReplicaJobFacts, *, region: str
) -> dict[str, Any]:
    """A job as its service describes it."""
    stored = stored_form(kind, kind.value, request)
    times = {"createTime": facts.created, "startTime": facts.started, "endTime": facts.ended}
    if kind is ReplicaJobKind.TRAINING_JOB:
        answer = {
            "jobId": facts.job,
            **stored,
            "state": facts.state,
            "errorMessage": facts.message,
        }
    else:
        times["updateTime"] = facts.updated
        answer = {
            "name": resource_name(facts.job, region=region),
            "displayName": facts.job,
            **stored,
            "state": facts.state,
            "error": None if facts.code is None else {"code": facts.code, "message": facts.message},
        }
    answer |= {name: timestamp(seconds) for name, seconds in times.items() if seconds is not None}
    return {name: value for name, value in answer.items() if value not in (None, "")}


def timestamp(seconds: float) -> str:
    """`2026-11-23T16:43:02.120000Z`; whole seconds have no fraction."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"


def word_of(state: JobState, kind: ReplicaJobKind) -> str:
    """A state in the words of the job's kind."""
    return state.value if kind is ReplicaJobKind.TRAINING_JOB else state.of_custom_job


def stored_form(kind: ReplicaJobKind, structure: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a structure in the JSON of the service."""
    known = members(kind, structure)
    return {name: _stored(kind, known[name].type, value) for name, value in data.items() if value or value == {}}


def _stored(kind: ReplicaJobKind, type_name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_stored(kind, type_name, item) for item in value]
    if is_structure(kind, type_name):
        return stored_form(kind, type_name, value)
    return str(value) if type_name == "int64" else value


def snake_case(value: Any) -> Any:
    """The same data with keys such as `worker_count`."""
    if isinstance(value, dict):
        return {snake_name(key): snake_case(item) for key, item in value.items()}
    return [snake_case(item) for item in value] if isinstance(value, list) else value


def snake_name(name: str) -> str:
    """`workerCount` to `worker_count`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
