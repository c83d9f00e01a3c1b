"""Suggests the known word that is most similar to an unknown one."""

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that the user probably meant; None if none is similar enough."""
    found = closest_words(word, known, most=1)
    return found[0] if found else None


def closest_words(word: str, known: Iterable[str], *, most: int) -> list[str]:
    """The known words that the user may have meant, the most similar first. One that differs in case only is alone."""
    words = list(known)
    folded = word.casefold()
    for candidate in words:
        if candidate.casefold() == folded:
            return [candidate]
    from difflib import get_close_matches  # needed only after a mistake

    by_folded = {candidate.casefold(): candidate for candidate in words}
    return [by_folded[each] for each in get_close_matches(folded, by_folded, n=most, cutoff=0.6)]
