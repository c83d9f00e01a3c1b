"""The requests that job files hold, of all platforms: how their members are handled, and schemas."""

from typing import Any

from smlocal.ai_platform.coverage import coverage_json
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.sagemaker.requests import REQUESTS


def coverage_tables() -> dict[str, dict[str, Any]]:
    """How each member of a request is handled, by the request's name."""
    return {**{name: each.members.as_json() for name, each in REQUESTS.items()}, **coverage_json()}


def job_file_schema(request: str) -> dict[str, Any]:
    """The JSON Schema of the file that holds a request, by its name as in `coverage_tables`."""
    if request in REQUESTS:
        return REQUESTS[request].schema()
    from smlocal.ai_platform.jobfile import schema  # takes 20 ms

    return schema.job_file_schema(ReplicaJobKind(request))


def answer_schema(request: str) -> dict[str, Any]:
    """Properties of what the platform of jobs of replicas answers, and which are always there."""
    from smlocal.ai_platform.jobfile import schema  # as above

    return schema.answer_schema(ReplicaJobKind(request))
