"""Compare the models with the service's own model, member by member."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from model_exceptions import OPTIONAL_HERE, PATHS_HERE, WORDS_HERE

from smlocal.sagemaker.contract.model.describe import DescribeTrainingJobResponse
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.terms.model.structure import Items, OrHere, Structure, Text, Whole, member_types, members, split

_Json = dict[str, Any]
_TIMESTAMP = {"timestamp": "float"}
"""On the wire a timestamp is a number."""


def differences(service: _Json) -> list[str]:
    """All differences between the service model (botocore's service-2.json) and our models."""
    comparison = _Comparison(service["shapes"])
    operations = service["operations"]
    found = [
        *comparison.structure(operations["CreateTrainingJob"]["input"]["shape"], CreateTrainingJobRequest),
        *comparison.structure(operations["DescribeTrainingJob"]["output"]["shape"], DescribeTrainingJobResponse),
    ]
    unused = {**OPTIONAL_HERE, **PATHS_HERE, **WORDS_HERE}.keys() - comparison.used
    return [*found, *(f"{name}: this exception is not needed" for name in sorted(unused))]


class _Comparison:
    def __init__(self, shapes: _Json) -> None:
        self.shapes = shapes
        self.seen: set[str] = set()
        self.used: set[str] = set()

    def structure(self, name: str, model: type[Structure]) -> Iterator[str]:
        if name in self.seen:
            return
        self.seen.add(name)
        if model.__name__ != name:
            yield f"{name}: called {model.__name__} here"
        theirs, ours = self.shapes[name]["members"], member_types(model)
        required = set(self.shapes[name].get("required", ()))
        yield from (f"{name}.{member}: not in our model" for member in theirs if member not in ours)
        yield from (f"{name}.{member}: not in the service's model" for member in ours if member not in theirs)
        for member in [member for member in theirs if member in ours]:
            where = f"{name}.{member}"
            needed = members(model)[member].is_required
            if where in OPTIONAL_HERE and member in required and not needed:
                self.used.add(where)
            elif needed != (member in required):
                yield f"{where}: {'required' if member in required else 'optional'} on the service"
            yield from self.shape(theirs[member]["shape"], ours[member], where)

    def shape(self, name: str, annotation: Any, where: str) -> Iterator[str]:
        shape = self.shapes[name]
        kind, constraint = split(annotation)
        if shape["type"] == "structure":
            if isinstance(kind, type) and issubclass(kind, Structure):
                yield from self.structure(name, kind)
            else:
                yield f"{where}: a structure on the service"
            return
        stated = _stated(kind, constraint)
        wanted = {key: shape[key] for key in ("type", "min", "max", "pattern", "enum") if key in shape}
        wanted["type"] = _TIMESTAMP.get(shape["type"], shape["type"])
        yield from (
            f"{where}: {key} is {_said(wanted, key)} on the service, {_said(stated, key)} here"
            for key in ("type", "min", "max", "pattern", "enum")
            if wanted.get(key) != stated.get(key)
        )
        if isinstance(constraint, Text) and constraint.or_path:
            if name in PATHS_HERE:
                self.used.add(name)
            else:
                yield f"{where}: takes a local path without being an exception"
        if isinstance(constraint, OrHere):
            if WORDS_HERE.get(name) == constraint.words:
                self.used.add(name)
            else:
                yield f"{where}: takes words of ours without being an exception"
        if stated["type"] == shape["type"] == "list":
            yield from self.shape(shape["member"]["shape"], get_args(kind)[0], f"{where}[]")
        elif stated["type"] == shape["type"] == "map":
            for part, inner in zip(("key", "value"), get_args(kind), strict=True):
                yield from self.shape(shape[part]["shape"], inner, f"{where} {part}")


def _said(stated: _Json, key: str) -> str:
    return repr(stated[key]) if key in stated else "absent"


def _stated(kind: Any, constraint: Any) -> _Json:
    """An annotation in the words of a service model."""
    origin = get_origin(kind)
    stated: _Json = {"type": "unknown"}
    if origin is Literal:
        stated = {"type": "string", "enum": list(get_args(kind))}
    elif origin in (list, dict):
        stated = {"type": "list" if origin is list else "map"}
    elif isinstance(constraint, Text):
        stated = {"type": "string"}
    elif isinstance(constraint, Whole):
        stated = {"type": "long" if constraint.long else "integer"}
    elif kind in (bool, float):
        stated = {"type": "boolean" if kind is bool else "float"}
    if isinstance(constraint, Items | Text | Whole):
        bounds = {"min": constraint.minimum, "max": constraint.maximum}
        stated |= {key: value for key, value in bounds.items() if value is not None}
    if isinstance(constraint, Text) and constraint.pattern is not None:
        stated["pattern"] = constraint.pattern
    return stated
