"""The requests that job files hold, of all platforms: how their members are handled, and schemas."""

from typing import Any

from smlocal.ai_platform import shape
from smlocal.ai_platform.coverage import coverage_json
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.api.job_files import REPLICAS, kind_of, refuse_unknown
from smlocal.api.job_source import read_file
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.kinds import request_reading
from smlocal.sagemaker.requests import REQUESTS

_UNKNOWN = "unknown key "


def coverage_tables() -> dict[str, dict[str, Any]]:
    """How each member of a request is handled, by the request's name."""
    return {**{name: each.members.as_json() for name, each in REQUESTS.items()}, **coverage_json()}


def requests_of_file(path: str) -> tuple[str, ...]:
    """The requests in a file."""
    document = read_file(path)
    refuse_unknown(document)
    kind = kind_of(document.data)
    return (str(shape.job_kind(document.data)),) if kind is REPLICAS else kind.requests


def coverage_of_file(path: str) -> dict[str, dict[str, Any]]:
    """How each member of a file is handled, by request; for jobs of replicas, all members of the request.

    Members that no request has are `unknown`.
    """
    requests = requests_of_file(path)
    document = read_file(path)
    kind = kind_of(document.data)
    if kind is REPLICAS:
        return {name: coverage_json()[name] for name in requests}
    reading = request_reading(kind)
    table = reading.TABLE
    asked = {name: value for name, value in document.data.items() if name != LOCAL}
    has = {row for name, _, _ in table.members(asked) if (row := table.row_of(name)) is not None}
    rows = {name: row for name, row in table.as_json().items() if name in has}
    for violation in reading.validated(document, strict=False)[2]:
        if violation.text.startswith(_UNKNOWN):
            name, _, hint = violation.text.removeprefix(_UNKNOWN).partition(": ")
            rows[name] = {"support": "unknown", "note": f"No request has this member{f': {hint}' if hint else '.'}"}
    return {", ".join(requests): rows}


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
