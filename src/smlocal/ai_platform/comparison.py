"""The members by which two jobs of this platform are compared."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from smlocal.ai_platform.answer import stored_form, word_of
from smlocal.ai_platform.lifecycle.actions import Decision, Happened
from smlocal.ai_platform.lifecycle.states import JobState
from smlocal.ai_platform.model.members import ReplicaJobKind, members
from smlocal.ai_platform.shape import JOB_SPEC, STATE, TRAINING_INPUT, WORKER_POOLS, camel, is_answer, job_kind
from smlocal.ai_platform.validation.reading import read_document
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.refusal import invalid_request
from smlocal.terms.compared_job import ComparedEnd, ComparedJob

_RESULTS: Final = frozenset({"etag", "trainingOutput"})
"""The service returns them too, though the model does not say so."""
_NAMES: Final = ("jobId", "displayName")


def request_of_answer(data: Mapping[str, Any]) -> dict[str, Any]:
    """The request in an answer, without the additions of the service and of this machine."""
    known = members(job_kind(data), job_kind(data).value)
    set_there = {name for name, member in known.items() if member.output} | _RESULTS
    return {key: value for key, value in data.items() if camel(key) not in set_there and key != LOCAL}


def compared_job(document: Document) -> ComparedJob:
    """The job in a request, or in an answer of the service or of this machine. Wrong names and types are an error."""
    kind = job_kind(document.data)
    reading = read_document(kind, request_of_answer(document.data), strict=False)
    if reading.violations:
        raise invalid_request(document, reading.violations)
    request = {name: value for name, value in reading.request.items() if name not in _NAMES}
    if kind is ReplicaJobKind.TRAINING_JOB:
        request[TRAINING_INPUT] = {"scaleTier": "BASIC", **(request.get(TRAINING_INPUT) or {})}
    else:
        spec = request.get(JOB_SPEC) or {}
        pools = [{"replicaCount": 1, **pool} if pool else pool for pool in spec.get(WORKER_POOLS) or ()]
        request[JOB_SPEC] = {**spec, WORKER_POOLS: pools}
    return ComparedJob(
        kind=kind.spoken,
        state_member=STATE,
        name=next((str(reading.request[name]) for name in _NAMES if name in reading.request), ""),
        request=stored_form(kind, kind.value, request),
        end=_end(kind, document.data) if is_answer(document.data) else None,
    )


def _end(kind: ReplicaJobKind, answer: Mapping[str, Any]) -> ComparedEnd:
    local = answer.get(LOCAL) or {}
    lifecycle = local.get("Lifecycle") or {}
    error = lifecycle.get("Error") or answer.get("error") or {}
    state = str(answer[STATE])
    return ComparedEnd(
        state=state,
        ended=state in {word_of(each, kind) for each in JobState if each.terminal},
        reason=error.get("message") or answer.get("errorMessage") or None,
        reason_member="errorMessage" if kind is ReplicaJobKind.TRAINING_JOB else "error.message",
        running=_running(kind, answer),
        replicas=_replicas(lifecycle.get("Entries") or ()) if lifecycle else None,
    )


def _running(kind: ReplicaJobKind, answer: Mapping[str, Any]) -> tuple[str, float] | None:
    try:
        began, ended = (datetime.fromisoformat(answer[name]) for name in ("startTime", "endTime"))
        return word_of(JobState.RUNNING, kind), (ended - began).total_seconds()
    except (KeyError, TypeError, ValueError):
        return None


def _replicas(entries: Any) -> dict[str, Any]:
    """A replica that was stopped may end in one way or another; that is not a difference."""
    found: dict[str, Any] = {}
    attempts, restarts = 1, 0
    for entry in entries:
        attempts = max(attempts, entry.get("Attempt", 1))
        restarts += entry.get("Decision") == Decision.RESTART_REPLICA
        if entry.get("Happened") == Happened.EXITED and "Signal" not in entry:
            found[entry["Replica"]] = entry.get("ExitCode")
    return {**found, "attempts": attempts, "restarts": restarts}
