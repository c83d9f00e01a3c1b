"""How often to look at a container, and how much of it to keep: less the longer it runs, so that neither counts."""

FIRST = 1.0
"""Seconds before the first look: a job that is shorter is left alone."""
_LONGEST = 5.0
_LOOKS = 30
"""A look in every thirtieth of the time that has passed, between the two above."""
_POINTS = 200
"""A point is kept for every two hundredth of it: some 1,050 in a day, 1,700 in four weeks."""


def pause(elapsed: float) -> float:
    """Seconds until the next look at a container that has run for `elapsed` seconds."""
    return min(_LONGEST, max(FIRST, elapsed / _LOOKS))


def spacing(elapsed: float) -> float:
    """Seconds that are kept as one point."""
    return elapsed / _POINTS
