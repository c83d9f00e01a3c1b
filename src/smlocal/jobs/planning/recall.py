"""The plan as JSON, stored with its job: enough to finish the job if its supervisor dies.

The contents of config files and the names of inputs are left out: only the start needs them, and there may be many.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from smlocal.errors import EarlierPlanError
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.terms.listing import Listing

_LEFT_OUT: Mapping[type, Mapping[str, Any]] = {
    HostPlan: {"files": {}},
    Listing: {"paths": [], "keys": [], "sizes": [], "etags": []},
}
"""The stored forms of fields, by the record that has them."""


def remember(plan: JobPlan) -> dict[str, Any]:
    """The plan as a JSON document."""
    document: dict[str, Any] = _encode(plan)
    return document


def recall(document: Mapping[str, Any]) -> JobPlan:
    """The plan from its JSON document, even of an earlier version; `EarlierPlanError` for one that cannot be read."""
    try:
        plan: JobPlan = _decode(JobPlan, _as_today(document))
    except (TypeError, KeyError, AttributeError) as error:
        raise EarlierPlanError(
            f"the job '{document.get('name', '')}' was planned by another version of smlocal",
            details=[str(error)],
            remedy=["Use that version for it. Its files are in its folder and its output folder; smlocal rm works."],
        ) from error
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


_JOB: Final = {
    **{name: ("identity", name) for name in ("arn", "region", "account")},
    **{name: ("image", name) for name in ("entrypoint", "command")},
    "image": ("image", "name"),
    "image_facts": ("image", "facts"),
    "engine": ("engines", "first"),
    "machine": ("engines", "machine"),
    "engines": ("engines", "several"),
    "machines": ("engines", "machines"),
    "network": ("network", "own"),
    "unreachable": ("network", "unreachable"),
    "code": ("inputs", "code"),
    "cache_bytes": ("inputs", "cache_bytes"),
    "checkpoints": ("mirrored", "checkpoints"),
    "collectors": ("mirrored", "collectors"),
    "rules": ("rules", "each"),
    "on_rule": ("rules", "actions"),
    "faults": ("faults", "each"),
    "names_after": ("faults", "names_after"),
    "fifos_after": ("faults", "fifos_after"),
    "keep": ("kept", "containers"),
    "list_changes": ("kept", "changes"),
}
"""The record of each member, and its name there."""
_HOST: Final = {
    "devices": ("accelerators", "gpus"),
    "runtime": ("accelerators", "runtime"),
    "neuron": ("accelerators", "neuron"),
    "hostname": ("names", "hostname"),
    "extra_hosts": ("names", "extra_hosts"),
    "aliases": ("names", "aliases"),
    "channels": ("inputs", "trees"),
    "pipes": ("inputs", "pipes"),
}
_MACHINE: Final = {
    "gpus": ("accelerators", "gpus"),
    "neuron": ("accelerators", "neuron"),
    "plain_runtime": ("accelerators", "plain_runtime"),
    "unlimited": ("limits", "unlimited"),
    "free_disk": ("limits", "free_disk"),
}


def _as_today(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document of a plan, with its members where they are today."""
    if not isinstance(document.get("image"), str):
        return document
    plan = _grouped(document, _JOB)
    engines = plan["engines"]
    engines["machine"] = _grouped(engines["machine"], _MACHINE)
    engines["machine"].setdefault("limits", {})["no_volume"] = plan.pop("no_volume", None)
    engines["machines"] = [_grouped(machine, _MACHINE) for machine in engines.get("machines", ())]
    plan["hosts"] = [_host(host) for host in plan["hosts"]]
    plan["stop"] = {**plan["stop"], "retries": plan.pop("retries", 0)}
    return plan


def _host(document: Mapping[str, Any]) -> dict[str, Any]:
    host = _grouped(document, _HOST)
    program = host.get("program")
    if program is not None:
        host["program"] = {
            **{name: value for name, value in program.items() if name != "image"},
            "name": program["image"],
        }
    return host


def _grouped(document: Mapping[str, Any], places: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    grouped: dict[str, Any] = {name: value for name, value in document.items() if name not in places}
    for name, (record, member) in places.items():
        if name in document:
            grouped.setdefault(record, {})[member] = document[name]
    return grouped
