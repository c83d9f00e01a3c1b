"""The models of the emulated services, as botocore ships them, and checks of parameters against their shapes.

Mistakes are worded as the service does.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

from smlocal.endpoint.call import ServiceError, validation_error
from smlocal.terms.model.structure import Items, Text, Whole
from smlocal.terms.validation.wording import (
    NOT_NULL,
    Broken,
    broken_number,
    broken_size,
    broken_text,
    constraints,
    member_name,
    sentence,
    spoken_key,
)


@cache
def service_model(service: str) -> ServiceModel:
    """All operations and shapes of a service."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


@cache
def operation_model(service: str, operation: str) -> OperationModel | None:
    """One operation; None if the service has none of that name."""
    model = service_model(service)
    return model.operation_model(operation) if operation in model.operation_names else None


_DEEPEST = 40
_MOST_BROKEN = 100
"""Constraints that one answer tells. Nothing is looked at after this many."""
_WHOLE = {"integer", "long"}
_ENUM = "Member must satisfy enum value set"


def check_parameters(shape: Any, given: Any) -> dict[str, Any]:
    """The parameters with times as seconds; `ServiceError` for wrong types and broken constraints."""
    if shape is None:
        return {}
    if not isinstance(given, dict):
        raise _wrong_type("the request", "structure")
    broken: list[str] = []
    checked: dict[str, Any] = _structure(shape, given, "", broken, 0)
    if broken:
        raise _refused(broken)
    return checked


def _refused(broken: list[str]) -> ServiceError:
    number = len(broken)
    return validation_error(f"{number} validation error{'s' if number > 1 else ''} detected: {'; '.join(broken)}")


def _structure(shape: Any, given: dict[str, Any], place: str, broken: list[str], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise _wrong_type(place, "structure")
    known = shape.members
    missing = (name for name in shape.required_members if given.get(name) is None)
    for name in missing:
        _add(broken, sentence(None, _inside(place, name), NOT_NULL))
    # Members that the model does not have are ignored, as the service does.
    return {
        name: _value(known[name], value, _inside(place, name), broken, depth + 1)
        for name, value in given.items()
        if name in known and value is not None
    }


def _inside(place: str, name: str) -> str:
    return f"{place}.{member_name(name)}" if place else member_name(name)


def _value(shape: Any, value: Any, place: str, broken: list[str], depth: int) -> Any:
    kind = shape.type_name
    if kind == "structure":
        if not isinstance(value, dict):
            raise _wrong_type(place, kind)
        return _structure(shape, value, place, broken, depth)
    if kind == "list":
        if not isinstance(value, list):
            raise _wrong_type(place, kind)
        _note(broken, value, place, broken_size(_limits(shape, Items), len(value)))
        return [
            _value(shape.member, each, f"{place}.{index}.member", broken, depth + 1)
            for index, each in enumerate(value, 1)
        ]
    if kind == "map":
        if not isinstance(value, dict):
            raise _wrong_type(place, kind)
        _note(broken, value, place, broken_size(_limits(shape, Items), len(value)))
        _check_keys(shape.key, value, place, broken)
        return {
            key: _value(shape.value, each, f"{place}.{spoken_key(key)}.member", broken, depth + 1)
            for key, each in value.items()
        }
    return _scalar(shape, value, place, broken)


def _check_keys(shape: Any, given: dict[str, Any], place: str, broken: list[str]) -> None:
    limits = _text_limits(shape)
    if any(True for key in given for _ in broken_text(limits, key, strict=True)):
        all_of_them = ", ".join(constraints(str, limits))
        _add(broken, sentence(given, place, f"Map keys must satisfy constraint: [{all_of_them}]"))


def _scalar(shape: Any, value: Any, place: str, broken: list[str]) -> Any:
    kind = shape.type_name
    if kind == "timestamp":
        return _seconds(value, place)
    if isinstance(value, float) and kind in _WHOLE and value.is_integer():
        value = int(value)
    if not _fits(kind, value):
        raise _wrong_type(place, kind)
    if kind in _WHOLE:
        limits = Whole(minimum=_low(shape), maximum=shape.metadata.get("max"), long=kind == "long")
        _note(broken, value, place, broken_number(limits, value))
    elif isinstance(value, str):
        if shape.enum and value not in shape.enum:
            _note(broken, value, place, [Broken(constraint=_ENUM, names=tuple(shape.enum))])
        _note(broken, value, place, broken_text(_text_limits(shape), value, strict=True))
    return value


def _fits(kind: str, value: Any) -> bool:
    if kind in _WHOLE:
        return type(value) is int
    if kind in {"float", "double"}:
        return type(value) in {int, float} and _is_finite(value)
    return isinstance(value, bool if kind == "boolean" else str)


def _is_finite(value: float) -> bool:
    return abs(value) <= sys.float_info.max  # math.isfinite() fails for long integers


def _low(shape: Any) -> int | None:
    return shape.metadata.get("min")  # type: ignore[no-any-return] # botocore has no types


def _text_limits(shape: Any) -> Text:
    return Text(minimum=_low(shape), maximum=shape.metadata.get("max"), pattern=shape.metadata.get("pattern"))


def _limits(shape: Any, kind: type[Items]) -> Items:
    return kind(minimum=_low(shape), maximum=shape.metadata.get("max"))


def _note(broken: list[str], value: Any, place: str, found: Iterator[Broken] | list[Broken]) -> None:
    for each in found:
        _add(broken, sentence(value, place, each.full))


def _add(broken: list[str], text: str) -> None:
    broken.append(text)
    if len(broken) >= _MOST_BROKEN:
        raise _refused(broken)


def _seconds(value: Any, place: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value):
        return float(value)
    if isinstance(value, str):
        with suppress(ValueError):
            return seconds_of(value)
    raise _wrong_type(place, "timestamp")


def seconds_of(text: str) -> float:
    """Seconds since the epoch; `ValueError` if the text is not one. Without a zone it is UTC, as clients write it."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _wrong_type(place: str, kind: str) -> ServiceError:
    return ServiceError("SerializationException", f"{place or 'the request'} is not of the type {kind}")
