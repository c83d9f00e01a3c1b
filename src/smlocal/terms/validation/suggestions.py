"""Suggests the known word that is most similar to an unknown one."""

from collections.abc import Iterable

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
