"""Suggests the known word that is most similar to an unknown one."""

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that the user probably meant; None if none is similar enough."""
    words = list(known)
    folded = word.casefold()
    for candidate in words:
        if candidate.casefold() == folded:
            return candidate
    from difflib import get_close_matches  # needed only after a mistake

    by_folded = {candidate.casefold(): candidate for candidate in words}
    found = get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
