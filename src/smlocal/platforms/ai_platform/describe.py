"""The answers of the two services about a job, made from plain values."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from smlocal.platforms.ai_platform.identity import resource_name
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.model.stored_form import stored_form
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFacts:
    """What is known about a job. Times are seconds since 1970."""

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
    """Of a job that failed or was cancelled."""
    code: int | None = None
    """The code of its error; None until it is set, about a minute after the end."""


def describe(kind: JobKind, request: Mapping[str, Any], facts: JobFacts, *, region: str) -> dict[str, Any]:
    """A job as its service describes it."""
    stored = stored_form(kind, kind.value, request)
    times = {"createTime": facts.created, "startTime": facts.started, "endTime": facts.ended}
    if kind is JobKind.TRAINING_JOB:
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
