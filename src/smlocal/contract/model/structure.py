"""The base class of the generated models: frozen structures whose annotations contain the constraints."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from types import NoneType
from typing import Annotated, Any, Final, Literal, dataclass_transform, get_args, get_origin

from smlocal.quick_dataclass import dataclass

REQUIRED: Final[Any] = object()
"""The default of a required member."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """One member of a structure."""

    annotation: Any
    default: Any = REQUIRED
    make_default: Callable[[], Any] | None = None
    """Makes a default for each structure."""
    description: str | None = None

    @property
    def is_required(self) -> bool:
        """False if it may be left out."""
        return self.default is REQUIRED and self.make_default is None

    @property
    def is_nullable(self) -> bool:
        """True if null means that it is left out."""
        return get_origin(self.annotation) is not Literal and NoneType in get_args(self.annotation)

    @property
    def present(self) -> Any:
        """The annotation without its `| None`."""
        arguments = get_args(self.annotation)
        if get_origin(self.annotation) not in (Annotated, Literal) and NoneType in arguments:
            return next(argument for argument in arguments if argument is not NoneType)
        return self.annotation


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Structure:
    """Stores values without checks; `smlocal.contract.validation.check` validates them."""

    def __init__(self, **given: Any) -> None:
        """Take the members by name; others get their default."""
        for name, member in members(type(self)).items():
            if name not in given:
                if member.is_required:
                    raise TypeError(f"{type(self).__qualname__} needs {name}")
                given[name] = member.default if member.make_default is None else member.make_default()
        vars(self).update(given)

    def plain(self) -> dict[str, Any]:
        """As a JSON document, without null."""
        return {name: _plain(value) for name, value in vars(self).items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__qualname__} may hold lists: it has no hash")

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to {name}")


def _plain(value: Any) -> Any:
    if isinstance(value, Structure):
        return value.plain()
    return [_plain(item) for item in value] if isinstance(value, list) else value


# Not `functools.cache`: its type does not accept classes that define __eq__.
_KNOWN: dict[type[Structure], dict[str, Member]] = {}


def members(model: type[Structure]) -> dict[str, Member]:
    """All members of a structure, in the service's order: first those of the structures that it is composed of."""
    if model not in _KNOWN:
        found: dict[str, Member] = {}
        for part in model.__bases__:
            if part is not Structure and issubclass(part, Structure):
                found |= members(part)
        for name, annotation in model.__annotations__.items():
            found[name] = _member(annotation, vars(model).get(name, REQUIRED))
        _KNOWN[model] = found
    return _KNOWN[model]


def _member(annotation: Any, said: Any) -> Member:
    """`said` is the class attribute with the member's name."""
    if isinstance(said, Member):
        return replace(said, annotation=annotation)
    return Member(annotation=annotation, default=said)


def member_types(model: type[Structure]) -> dict[str, Any]:
    """The annotation of each member of a structure, without its `| None`."""
    return {name: member.present for name, member in members(model).items()}
