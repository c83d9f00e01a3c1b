"""`dataclass` for classes that are keyword-only and slotted, made in a fifth of the time.

The standard one compiles the source of five methods for each class. The start of a job imports a hundred and ninety of
them, which was a third of its processor time. Here the fields are found and the slots made in one pass, and all classes
share their methods but `__init__`. To type checkers, `fields`, `replace` and `asdict` it is an ordinary dataclass.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar

_Class = type[Any]
_NOTHING: Any = dataclasses.MISSING
_VALUES = "__compared_values__"
"""The member of a class that gets the values of its fields from an object, for `==` and `hash`."""


def _quick(*, kw_only: bool, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[_Class], _Class]:
    assert kw_only and slots  # noqa: S101, PT018 - it makes no others
    methods: dict[str, Any] = {"__repr__": _representation}
    if eq:
        methods |= {"__eq__": _comparison, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete, "__setstate__": _unpickle}

    def make(plain: _Class) -> _Class:
        made = _in_one_pass(plain, methods) or _by_the_library(plain, methods)
        if "__init__" not in vars(made):
            made.__init__ = _initialiser(made, dataclasses.fields(made))
        return made

    return make


def _by_the_library(plain: _Class, methods: Mapping[str, Any]) -> _Class:
    made: _Class = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True, slots=True)(plain)
    fields = dataclasses.fields(made)
    for name, method in {**methods, _VALUES: _values(fields)}.items():
        if name not in vars(made):
            setattr(made, name, method)
    return made


def _in_one_pass(plain: _Class, methods: Mapping[str, Any]) -> _Class | None:
    """The class with its fields and slots; None if it inherits some, or has members that only the library reads.

    The library looks at each member several times, and writes a text of the signature for classes without a docstring.
    """
    if sys.version_info >= (3, 14) or any(hasattr(base, "__dataclass_fields__") for base in plain.__bases__):
        return None
    members = dict(vars(plain))
    fields: dict[str, Any] = {}
    for name, kind in members.get("__annotations__", {}).items():
        if isinstance(kind, str) and ("ClassVar" in kind or "InitVar" in kind or "KW_ONLY" in kind):
            return None
        if isinstance(kind, dataclasses.InitVar) or kind in (dataclasses.InitVar, dataclasses.KW_ONLY):
            return None
        if kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar:
            continue
        given = members.pop(name, _NOTHING)
        field: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
        if field.default.__class__.__hash__ is None:
            raise ValueError(f"{plain.__qualname__}.{name} has a default that can change: use default_factory")
        field.name, field.type, field.kw_only = name, kind, True
        field._field_type = _FIELD  # noqa: SLF001 - by it `fields`, `replace` and `asdict` know one
        fields[name] = field
    if any(isinstance(each, dataclasses.Field) for each in members.values()):
        return None
    inherited = {name for base in plain.__mro__[1:-1] for name in _slots(base)}
    members["__slots__"] = tuple(name for name in fields if name not in inherited)
    members |= {"__dataclass_fields__": fields, "__dataclass_params__": _PARAMETERS}
    for name, method in {"__match_args__": (), _VALUES: _values(fields.values()), **methods}.items():
        members.setdefault(name, method)
    for unwanted in ("__dict__", "__weakref__"):
        members.pop(unwanted, None)
    metaclass: Any = type(plain)
    made: _Class = metaclass(plain.__name__, plain.__bases__, members)
    made.__qualname__ = plain.__qualname__
    return made


def _slots(base: _Class) -> tuple[str, ...]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _initialiser(made: _Class, fields: Sequence[Any]) -> Callable[..., None]:
    # A frozen class refuses to be set; its slots do not.
    places = [(field, field.name, getattr(made, field.name).__set__) for field in fields]
    given_ones = [place for place in places if place[0].init]
    own = [place for place in places if not place[0].init and _has_default(place[0])]
    finishes = hasattr(made, "__post_init__")

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807 - what it is
        for field, name, put in given_ones:
            if name in given:
                put(self, given.pop(name))
            elif _has_default(field):
                put(self, _default(field))
            else:
                raise TypeError(f"{made.__qualname__}() is missing {name!r}")
        if given:
            raise TypeError(f"{made.__qualname__}() knows no {', '.join(map(repr, given))}")
        for field, _, put in own:
            put(self, _default(field))
        if finishes:
            self.__post_init__()

    return __init__


def _has_default(field: Any) -> bool:
    return field.default is not _NOTHING or field.default_factory is not _NOTHING


def _default(field: Any) -> Any:
    return field.default if field.default is not _NOTHING else field.default_factory()


@recursive_repr()
def _representation(self: Any) -> str:
    inside = ", ".join(
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    )
    return f"{type(self).__qualname__}({inside})"


def _comparison(self: Any, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    values = getattr(type(self), _VALUES)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(getattr(type(self), _VALUES)(self))


def _values(fields: Iterable[Any]) -> Callable[[Any], Any]:
    names = [field.name for field in fields if field.compare]
    return attrgetter(*names) if names else lambda _: ()


def _refuse_to_set(_: Any, name: str, __: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _unpickle(self: Any, state: tuple[None, dict[str, Any]]) -> None:
    for name, value in state[1].items():
        object.__setattr__(self, name, value)


# With a text, since the library takes a millisecond to write one.
_SAMPLE: Any = _by_the_library(type("_Sample", (), {"__annotations__": {"sample": int}, "__doc__": "A sample."}), {})
_FIELD: Any = _SAMPLE.__dataclass_fields__["sample"]._field_type  # noqa: SLF001 - as above
_PARAMETERS: Any = _SAMPLE.__dataclass_params__

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - exported again
else:
    dataclass = _quick
