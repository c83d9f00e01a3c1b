"""Names that smlocal gives to jobs without one: from the image or file, and the time."""

from smlocal.base.regex import regex

_TIME = regex(r"-\d{8}-\d{6}-\d{3}$")
_SHORT_TIME = regex(r"-\d{6}-\d{9}$")


def without_time(name: str) -> str:
    """The part that is the same for the next job of the same file or image."""
    return _TIME.sub("", name)


def without_tuning_time(name: str) -> str:
    """The same of a tuning job, whose name is shorter."""
    return _SHORT_TIME.sub("", name)
