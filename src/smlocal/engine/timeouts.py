"""The time limits of calls to an engine, all proportional to one number that the user may set.

`CallLimit` holds one call to them, and says how a silence is treated while no bytes arrive.
"""

import math
import os
import time
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import UsageRefusedError

VARIABLE = "SMLOCAL_ENGINE_TIMEOUT"
_DEFAULT = 60.0
_LONGEST = 86_400.0
_ROUNDING = 0.01
"""Seconds by which a timeout may come early."""


class Call(StrEnum):
    """Kinds of calls with different limits."""

    GREETING = "greeting"
    """The first call; slow through ssh."""
    GLANCE = "glance"
    """A check whether the engine or a container is there."""
    QUESTION = "question"
    ACTION = "action"
    """Makes, starts or removes something."""
    STREAM = "stream"
    """Any number of bytes in either direction: a pull, an archive, a log."""
    WAIT = "wait"
    """Waits for an event, perhaps for days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """In seconds."""

    lost: float = _DEFAULT
    """The time in which a job ends after its engine is lost."""

    @property
    def connect(self) -> float:
        """To connect, including TLS."""
        return self.lost / 4

    @property
    def silence(self) -> float:
        """Silence after which the engine is checked."""
        return self.lost / 4

    @property
    def again(self) -> float:
        """For the first answer of a lost engine."""
        return self.lost / 30

    @property
    def back(self) -> float:
        """How long clean-up waits for a lost engine, which is often only restarting."""
        return self.lost / 4

    @property
    def killed(self) -> float:
        """The time in which a container must end after SIGKILL."""
        return self.lost

    def total(self, call: Call) -> float:
        """For a whole call."""
        match call:
            case Call.GLANCE:
                return self.lost / 6
            case Call.GREETING | Call.QUESTION:
                return self.lost / 2
            case Call.ACTION:
                return self.lost * 2
            case Call.STREAM | Call.WAIT:
                return math.inf
            case _:
                assert_never(call)

    def quiet(self, call: Call) -> float:
        """The longest silence of an engine that is there."""
        return self.lost * 10 if call is Call.STREAM else math.inf


def chosen_timeouts() -> Timeouts:
    """The limits from the environment, or the default."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return Timeouts()
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _LONGEST:
        raise UsageRefusedError(
            f"{VARIABLE}={text} is not a number of seconds",
            remedy=[f"Set it to a number above 0 and up to {_LONGEST:.0f}, or unset it for {_DEFAULT:.0f}."],
        )
    return Timeouts(lost=seconds)


class SlowAnswerError(Exception):
    """A call has taken longer than its limit."""


class CallLimit:
    """Starts when it is made. The sender and receiver report progress, and it raises when a limit is reached."""

    __slots__ = ("_moved_at", "_quiet", "_still", "_total", "_until", "pause")

    def __init__(self, *, pause: float, total: float, quiet: float, still: Callable[[], None]) -> None:
        """After each `pause` without a byte, `still` is called, which raises to end the call."""
        self._total, self._quiet, self._still = total, quiet, still
        self._moved_at = time.monotonic()
        self._until = self._moved_at + total
        self.pause = min(pause, total, quiet)

    def lift(self) -> None:
        """The call has been answered, and a stream follows that may take any time."""
        self._until = self._quiet = math.inf

    def moved(self) -> None:
        """Bytes were sent or received."""
        self._moved_at = time.monotonic()
        if self._moved_at >= self._until:
            raise SlowAnswerError(f"no complete answer within {self._total:g} s")

    def silent(self) -> None:
        """No byte was sent or received for a pause."""
        now = time.monotonic() + _ROUNDING
        if now >= self._until:
            raise SlowAnswerError(f"no answer within {self._total:g} s")
        if now - self._moved_at >= self._quiet:
            raise SlowAnswerError(f"no data for {self._quiet:g} s")
        self._still()
