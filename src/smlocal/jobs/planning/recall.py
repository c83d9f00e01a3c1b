"""The plan as JSON, stored with its job: enough to finish the job if its supervisor dies.

The contents of config files and the names of inputs are left out: only the start needs them, and there may be many.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from smlocal.errors import EarlierPlanError
from smlocal.jobs.planning.model import HostPlan, JobPlan, RecordedPlan
from smlocal.terms.listing import Listing

_LEFT_OUT: Mapping[type, Mapping[str, Any]] = {
    HostPlan: {"files": {}},
    Listing: {"paths": [], "keys": [], "sizes": [], "etags": []},
}
"""The stored forms of fields, by the record that has them."""


def remember(plan: RecordedPlan) -> dict[str, Any]:
    """The plan as a JSON document."""
    document: dict[str, Any] = _encode(plan)
    return document


def recall(document: Mapping[str, Any]) -> RecordedPlan:
    """The plan from its JSON document; `EarlierPlanError` for one of a version whose records were others."""
    try:
        plan: RecordedPlan = _decode(JobPlan if "hosts" in document else RecordedPlan, document)
    except (TypeError, KeyError, AttributeError) as error:
        raise EarlierPlanError(
            f"the job '{document.get('name', '')}' was planned by another version of smlocal",
            details=[str(error)],
            remedy=["Use that version for it. Its files are in its folder and its output folder; smlocal rm works."],
        ) from error
    return plan


def recall_containers(document: Mapping[str, Any]) -> JobPlan:
    """The same, for a job that is known to have containers."""
    plan = recall(document)
    if not isinstance(plan, JobPlan):
        raise AssertionError(plan.name)  # noqa: TRY004 - the caller knows its job
    return plan


def engine_of_each_host(document: Mapping[str, Any] | None) -> dict[str, str]:
    """Where the hosts of a job on several engines run, by its plan as a document: the address of the engine of each."""
    if document is None:
        return {}
    engines = document.get("engines")
    if not (engines["several"] if isinstance(engines, Mapping) else engines):  # a list in those of earlier versions
        return {}
    return {each["host"]["name"]: each["engine"] for each in document["hosts"]}


def _encode(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        left_out = _LEFT_OUT.get(type(value), {})
        return {
            field.name: left_out[field.name] if field.name in left_out else _encode(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(kind: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: _decode(hints[name], item) for name, item in value.items()})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return None if value is None else _decode(inner, value)
    if origin is tuple or origin is Sequence:
        return tuple(_decode(arguments[0], item) for item in value)
    if origin is not None and origin is not Literal and isinstance(value, Mapping):
        return {key: _decode(arguments[1], item) for key, item in value.items()}
    return value
