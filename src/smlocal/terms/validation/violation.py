"""A mistake in a request, and the known word that is most similar to an unknown one."""

from collections.abc import Iterable
from typing import Any

from smlocal.base.quick_dataclass import dataclass

# Paths of values in a request: keys and list indexes.

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """`Channels[0].Name`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def spoken(path: Path) -> str:
    """The path as the service writes it, with lists counted from 1: `Channels.1.member.Name`.

    It is used in all messages, since sentences of the service are in the same error.
    """
    return ".".join(f"{step + 1}.member" if isinstance(step, int) else step for step in path)


def kind_of(value: Any) -> str:
    """The type of a value in plain words."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a map"}
    return kinds.get(type(value), type(value).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Where the error is, and its text."""

    path: Path
    text: str
    """One line for the terminal."""
    service: str | None = None
    """The service's sentence, if it has one."""


_LIKENESS = 0.6
"""The likeness of two words, between 0 and 1, from which one may be meant by the other."""
_LONGEST = 200
"""Characters of a word that may be one of the known ones, with a mistake."""


def closest(word: str, known: Iterable[str], *, likeness: float = _LIKENESS) -> str | None:
    """The known word that the user probably meant; None if none is similar enough."""
    found = closest_words(word, known, most=1, likeness=likeness)
    return found[0] if found else None


def closest_words(word: str, known: Iterable[str], *, most: int, likeness: float = _LIKENESS) -> list[str]:
    """The known words that the user may have meant, the most similar first.

    One that differs only in case is the only suggestion.
    """
    if len(word) > _LONGEST:
        return []  # comparing takes time and memory with the square of the length
    words = list(known)
    folded = word.casefold()
    for candidate in words:
        if candidate.casefold() == folded:
            return [candidate]
    by_folded = {candidate.casefold(): candidate for candidate in words}
    return [by_folded[each] for each in close_matches(folded, by_folded, most=most, likeness=likeness)]


def close_matches(word: str, known: Iterable[str], *, most: int = 1, likeness: float = _LIKENESS) -> list[str]:
    """The most similar of words, case and all, the most similar first."""
    from difflib import get_close_matches  # needed only after a mistake

    return get_close_matches(word, [*known], n=most, cutoff=likeness)
