"""Validates a document and makes a model of it."""

from typing import Any, TypeVar, get_args

from smlocal.contract.model.constraints import split
from smlocal.contract.model.structure import Structure, member_types
from smlocal.contract.validation.member_path import Path
from smlocal.contract.validation.violation import Violation
from smlocal.contract.validation.walk import Written, not_known, violations

Model = TypeVar("Model", bound=Structure)


def validate(
    model: type[Model], data: Any, *, strict: bool, path: Path = (), written: Written = not_known
) -> tuple[Model | None, list[Violation]]:
    """The data as a model, or everything that is wrong with it. A `path` means that it is the `Local` block.

    `written` returns a number as it is written in the file, if that is known.
    """
    found = violations(model, data, strict=strict, path=path, written=written)
    return (None, found) if found else (_made(model, data), [])


def _made(annotation: Any, value: Any) -> Any:
    """A copy, so that later changes of the data have no effect."""
    kind, _ = split(annotation)
    if value is None:
        return None
    if isinstance(kind, type) and issubclass(kind, Structure):
        types = member_types(kind)
        return kind(**{name: _made(types[name], item) for name, item in value.items()})
    if isinstance(value, list):
        return [_made(get_args(kind)[0], item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def missing(path: Path) -> Violation:
    """The violation for a required member that is missing."""
    from smlocal.contract.validation.wording import NOT_NULL, member_name, sentence  # only after a mistake

    place = ".".join(f"{step + 1}.member" if isinstance(step, int) else member_name(step) for step in path)
    text = sentence(None, place, NOT_NULL)
    return Violation(path=path, text=text, service=text)
