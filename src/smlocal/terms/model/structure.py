"""The base class of the generated models: frozen structures whose annotations contain the constraints."""

import re
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, replace
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, Literal, dataclass_transform, get_args, get_origin

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex

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
    """Stores values without checks; `smlocal.terms.validation.walk` validates them."""

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


# The constraints of members of the generated models: one class for each kind of shape.

INTEGER_LIMIT = 2**31
LONG_LIMIT = 2**63


def is_local_path(value: str) -> bool:
    """True for a `file://` URI or a path without a scheme."""
    if value.startswith("file://"):
        value = value.removeprefix("file://")
        return bool(value.strip()) and not {"\0", "\n"} & set(value)
    return (
        bool(value.strip())
        and not {"\0", "\n"} & set(value)
        and not value.startswith(("s3:", "https:"))
        and "://" not in value
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Text:
    """A string: length in characters, pattern, and whether a local path is allowed too."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    or_path: bool = False

    def allows(self, value: str, *, strict: bool) -> bool:
        """True if the value matches the pattern or is an allowed local path."""
        if self.pattern is None or matches(self.pattern, value):
            return True
        return self.or_path and not strict and is_local_path(value)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Whole:
    """An integer of 32 bits, or of 64 if `long`."""

    minimum: int | None = None
    maximum: int | None = None
    long: bool = False

    @property
    def limit(self) -> int:
        """The first number that is too large for the type."""
        return LONG_LIMIT if self.long else INTEGER_LIMIT


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """The size of a list or a map, and which values of a map are locations."""

    minimum: int | None = None
    maximum: int | None = None
    path_keys: str | None = None
    """For a map: a pattern for the keys whose values are locations, which may be local paths here."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrHere:
    """Additional words of an enumeration, for this machine only."""

    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Checked:
    """A setting in `Local` that a function checks, because it can be written in several ways."""

    trouble: Callable[[Any], str | None]
    """The mistake in a value, as the end of a sentence that begins with its name; None if it is valid."""
    schema: Mapping[str, Any]
    """The JSON Schema for editors."""


def split(annotation: Any) -> tuple[Any, Any]:
    """The type and the constraint in an annotation."""
    if get_origin(annotation) is Annotated:
        kind, constraint = get_args(annotation)[:2]
        return kind, constraint
    return annotation, None


# Matches the service's patterns: Java regular expressions for the whole value.

_DOT = r"[^\n\r\u0085\u2028\u2029]"  # Java's `.` matches no line terminator at all, Python's only excludes \n
_SPACE_SEPARATORS = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
_CLASSES = {
    r"\p{Alnum}": "a-zA-Z0-9",
    # Python's \w is \p{L}, \p{N} and `_`. The only pattern with these classes (tags) has all three.
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{Z}": _SPACE_SEPARATORS,
    # Beyond ASCII, marks, symbols and punctuation are not told apart.
    r"\p{M}": "\\u0300-\\U0010ffff",
    r"\p{S}": "$+<-\\>^`|~\\u00a1-\\U0010ffff",
    r"\p{P}": "!-#%-*,-/:;?@\\[-\\]_{}\\u00a1-\\U0010ffff",
}
_TOKENS = regex(r"\\p\{\w+\}|\\.|[\[\].]", re.DOTALL)
_BEYOND = (r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF")
"""The characters that Java writes as two: so, and for Python."""
_REPEATED_END = "${"
"""As in `${1,128}`, behind some patterns: in Java it means the end."""
_ANYTHING = (r"[\S\s]*",)


def translate(pattern: str) -> str:
    """The same expression for Python."""
    inside = False

    def token(match: re.Match[str]) -> str:
        nonlocal inside
        text = match.group()
        if text == "[":
            inside = True
        elif text == "]":
            inside = False
        elif text == "." and not inside:
            return _DOT
        return _CLASSES.get(text, text)

    return _TOKENS.sub(token, pattern.partition(_REPEATED_END)[0].replace(*_BEYOND))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In Java \d, \w and \s are ASCII, and only \p{…} is Unicode.
    return re.compile(translate(pattern), 0 if r"\p{L}" in pattern else re.ASCII)


def matches(pattern: str, value: str) -> bool:
    """True if the whole value matches."""
    return pattern in _ANYTHING or _compiled(pattern).fullmatch(value) is not None
