"""The service's sentences about values that break a constraint."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.model.structure import Items, Text, Whole

NOT_NULL = "Member must not be null"
_LONGEST_VALUE = 80
_LONGEST_OF_SERVICE = 4_000
"""Characters of a value in a sentence of the service. It shows all of them, and a value may have megabytes."""
_LONGEST_KEY = 200
"""Characters of a key in a path."""
_MOST_NAMES = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """One constraint that a value breaks."""

    constraint: str
    """`Member must have length less than or equal to 63`"""
    names: tuple[str, ...] = ()
    """The values an enumeration allows."""

    @property
    def full(self) -> str:
        """The service's words."""
        return f"{self.constraint}: [{', '.join(self.names)}]" if self.names else self.constraint

    @property
    def short(self) -> str:
        """The service's words, with a long enumeration shortened."""
        if len(self.names) <= _MOST_NAMES:
            return self.full
        return f"{self.constraint}: [{', '.join(self.names[:_MOST_NAMES])}, … {len(self.names) - _MOST_NAMES} more]"


def member_name(name: str) -> str:
    """`JobName` to `jobName`."""
    return name[:1].lower() + name[1:]


def shortened(text: str, longest: int) -> str:
    """The text, or its beginning with `…`."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def spoken_key(key: str) -> str:
    """The key of a map as a part of a path in a sentence."""
    return shortened(key, _LONGEST_KEY)


def java(value: Any) -> str:
    """A value as Java prints it. No more of it is written than a message may have."""
    if isinstance(value, str) and len(value) <= _LONGEST_OF_SERVICE:
        return value.encode("utf-8", "backslashreplace").decode()
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value):
        pieces.append(piece)
        length += len(piece)
        if length > _LONGEST_OF_SERVICE:
            break
    return shortened("".join(pieces), _LONGEST_OF_SERVICE)


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield ", " if index else ""
            yield from _pieces(key)
            yield "="
            yield from _pieces(item)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _pieces(item)
        yield "]"
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    else:
        yield str(value)[: _LONGEST_OF_SERVICE + 1].encode("utf-8", "backslashreplace").decode()


def sentence(value: Any, place: str, constraint: str, *, shown: int | None = None) -> str:
    """`Value 'x' at 'a.b' failed to satisfy constraint: …`."""
    text = java(value)
    if shown is not None:
        text = shortened(text, shown)
    quoted = "null" if value is None else f"'{text}'"
    return f"Value {quoted} at '{place}' failed to satisfy constraint: {constraint}"


def short_sentence(value: Any, place: str, constraint: str) -> str:
    """The same on one line of the terminal."""
    return one_line(sentence(value, place, constraint, shown=_LONGEST_VALUE))


def one_line(text: str) -> str:
    """The text with line ends, control characters and broken Unicode escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _most(maximum: int | None) -> Iterator[str]:
    if maximum is not None:
        yield f"Member must have length less than or equal to {maximum}"


def _least(minimum: int | None) -> Iterator[str]:
    if minimum is not None:
        yield f"Member must have length greater than or equal to {minimum}"


def constraints(kind: Any, constraint: Any) -> list[str]:
    """All constraints of an element of a list or map, broken or not."""
    if get_origin(kind) is Literal:
        return [f"Member must satisfy enum value set: [{', '.join(get_args(kind))}]"]
    words = [*_most(constraint.maximum), *_least(constraint.minimum)] if isinstance(constraint, Text | Items) else []
    if isinstance(constraint, Text) and constraint.pattern is not None:
        words.append(f"Member must satisfy regular expression pattern: {constraint.pattern}")
    return words or [NOT_NULL]


def broken_size(constraint: Items | Text, size: int) -> Iterator[Broken]:
    """Broken limits of the size."""
    if constraint.maximum is not None and size > constraint.maximum:
        yield from (Broken(constraint=text) for text in _most(constraint.maximum))
    if constraint.minimum is not None and size < constraint.minimum:
        yield from (Broken(constraint=text) for text in _least(constraint.minimum))


def broken_text(constraint: Text, value: str, *, strict: bool) -> Iterator[Broken]:
    """Broken constraints of a string."""
    if not constraint.allows(value, strict=strict):
        yield Broken(constraint=f"Member must satisfy regular expression pattern: {constraint.pattern}")
    yield from broken_size(constraint, len(value))


def broken_number(constraint: Whole, value: int) -> Iterator[Broken]:
    """Broken constraints of an integer."""
    most = constraint.limit - 1 if constraint.maximum is None else constraint.maximum
    least = -constraint.limit if constraint.minimum is None else constraint.minimum
    if value > most:
        yield Broken(constraint=f"Member must have value less than or equal to {most}")
    if value < least:
        yield Broken(constraint=f"Member must have value greater than or equal to {least}")
