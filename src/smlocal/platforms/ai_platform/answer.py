"""What the service would answer about a stored job."""

import time
from typing import Any, Final

from smlocal.contract.statuses import JobPhase, JobStatus
from smlocal.job.documents import JOB, PLAN, REQUEST
from smlocal.platforms.ai_platform.describe import JobFacts, describe
from smlocal.platforms.ai_platform.identity import job_region
from smlocal.platforms.ai_platform.lifecycle.error_classes import ErrorClass
from smlocal.platforms.ai_platform.lifecycle.error_codes import ERROR_CODES
from smlocal.platforms.ai_platform.lifecycle.job_states import JobState
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.platforms.ai_platform.shape import job_kind
from smlocal.platforms.ai_platform.state_words import word_of
from smlocal.store.records import JobRecord, StoredJob

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


def state_word(record: JobRecord, kind: JobKind) -> str:
    """The state in the words of the job's kind."""
    return word_of(state_of(record), kind)


def state_word_of(phase: JobPhase, kind: JobKind) -> str:
    """The state that a phase belongs to, in the words of the job's kind."""
    return word_of(_STATES_OF_PHASES.get(phase, JobState.PREPARING), kind)


def kind_of(record: JobRecord) -> JobKind:
    """The kind of a job, by its resource name."""
    return JobKind.CUSTOM_JOB if "/customJobs/" in record.arn else JobKind.TRAINING_JOB


def answer_of(stored: StoredJob, *, final: bool = False) -> dict[str, Any]:
    """The Job or CustomJob. The error of a job appears about a minute after its end, or at once if `final`."""
    record, request = stored.record, stored.documents[REQUEST]
    kind = job_kind(request)
    local = ((stored.documents.get(JOB) or {}).get("Data") or {}).get("Local") or {}
    lifecycle = stored.documents.get(LIFECYCLE) or {}
    error = lifecycle.get("Error") or {}
    shown = record.status.terminal and (final or _delayed_until(stored) <= time.time())
    facts = JobFacts(
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
    return "customJobs" if kind_of(record) is JobKind.CUSTOM_JOB else "jobs"
