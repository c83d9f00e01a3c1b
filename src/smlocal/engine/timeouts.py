"""How long an engine may take for what it is asked, all in proportion to one number that the user may set."""

import math
import os
from enum import StrEnum
from typing import assert_never

from smlocal.errors import UsageRefusedError
from smlocal.quick_dataclass import dataclass

VARIABLE = "SMLOCAL_ENGINE_TIMEOUT"
_DEFAULT = 60.0
_LONGEST = 86_400.0


class Call(StrEnum):
    """What kinds of calls there are, by how long they may take."""

    GREETING = "greeting"
    """The first one: an engine behind ssh takes a while."""
    GLANCE = "glance"
    """Whether the engine, or a container, is still there."""
    QUESTION = "question"
    ACTION = "action"
    """Make, start or remove something."""
    STREAM = "stream"
    """As many bytes as there are, in either direction: a pull, an archive, a log."""
    WAIT = "wait"
    """Until something happens that may be days away."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """Everything in seconds."""

    lost: float = _DEFAULT
    """A job whose engine is lost ends within about so many."""

    @property
    def connect(self) -> float:
        """For a connection, TLS included."""
        return self.lost / 4

    @property
    def silence(self) -> float:
        """After so long without a byte the engine is asked whether it is still there."""
        return self.lost / 4

    @property
    def again(self) -> float:
        """For the first answer of an engine that was lost."""
        return self.lost / 30

    @property
    def back(self) -> float:
        """An engine that was lost is often only restarting: clean-up waits so long for it."""
        return self.lost / 4

    @property
    def killed(self) -> float:
        """After SIGKILL a container has so long to end."""
        return self.lost

    def total(self, call: Call) -> float:
        """For a whole call, however steadily its answer comes."""
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
        """Without a byte, from an engine that is there."""
        return self.lost * 10 if call is Call.STREAM else math.inf


def chosen_timeouts() -> Timeouts:
    """What the user says in the environment, or the usual ones."""
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
