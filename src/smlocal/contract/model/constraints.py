"""The constraints of members of the generated models: one class for each kind of shape."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin

from smlocal.contract.model.patterns import matches
from smlocal.quick_dataclass import dataclass

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
    """Of a map: a pattern for the keys whose values are locations, which may be local paths here."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrHere:
    """Additional words of an enumeration, for this machine only."""

    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Checked:
    """A setting in `Local` that a function checks, because it can be written in several ways."""

    trouble: Callable[[Any], str | None]
    """What is wrong with a value, as the end of a sentence that begins with its name; None if it is valid."""
    schema: Mapping[str, Any]
    """The JSON Schema for editors."""


def split(annotation: Any) -> tuple[Any, Any]:
    """The type and the constraint in an annotation."""
    if get_origin(annotation) is Annotated:
        kind, constraint = get_args(annotation)[:2]
        return kind, constraint
    return annotation, None
