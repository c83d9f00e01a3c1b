"""What the members of the generated models are held to: one class for each kind of shape."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin

from smlocal.contract.model.patterns import matches
from smlocal.quick_dataclass import dataclass

INTEGER_LIMIT = 2**31
LONG_LIMIT = 2**63


def is_local_path(value: str) -> bool:
    """True for what names a place on this machine: a `file://` URI or a path without a scheme."""
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
    """A string: its length in characters, its pattern, and whether a local path may stand instead."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    or_path: bool = False

    def allows(self, value: str, *, strict: bool) -> bool:
        """True when the pattern lets the value through."""
        if self.pattern is None or matches(self.pattern, value):
            return True
        return self.or_path and not strict and is_local_path(value)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Whole:
    """An integer of 32 bits, or of 64 where the service says long."""

    minimum: int | None = None
    maximum: int | None = None
    long: bool = False

    @property
    def limit(self) -> int:
        """First number too large for the type itself."""
        return LONG_LIMIT if self.long else INTEGER_LIMIT


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """How many members a list or a map may have."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrHere:
    """Beside an enumeration of the service: words that only mean something on this machine."""

    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Checked:
    """A setting of our own that may be written in several ways, which a function tells apart."""

    trouble: Callable[[Any], str | None]
    """What is wrong with a value, in words that follow the setting's name; None for a good one."""
    schema: Mapping[str, Any]
    """The same for an editor, as JSON Schema."""


def split(annotation: Any) -> tuple[Any, Any]:
    """Type and constraint of an annotation."""
    if get_origin(annotation) is Annotated:
        kind, constraint = get_args(annotation)[:2]
        return kind, constraint
    return annotation, None
