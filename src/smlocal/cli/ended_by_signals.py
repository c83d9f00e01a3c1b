"""Lets SIGTERM and SIGHUP end a command as Ctrl-C does, so that it cleans up."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_TERMINATED = 143


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """What is in this block is left by `SystemExit` on the first of these signals; later ones are ignored."""

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(_TERMINATED)

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
