"""How work on artifacts is stopped: it calls a check several times a second, which raises if nobody wants to wait."""

from collections.abc import Callable

Check = Callable[[], None]
"""Called between pieces of long work; raises `PackingStoppedError` once a stop was requested again."""


class PackingStoppedError(Exception):
    """Nobody wants to wait for the artifacts any more. What the containers wrote is kept."""


def no_check() -> None:
    """For work that cannot be stopped."""
