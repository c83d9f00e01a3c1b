"""Names that smlocal gives to jobs without one: from the image or file, and the time."""

import re

_TIME = re.compile(r"-\d{8}-\d{6}-\d{3}$")


def without_time(name: str) -> str:
    """The part that is the same for the next job of the same file or image."""
    return _TIME.sub("", name)
