"""The end of an attempt: its hosts' results, the data for the platform, and whether another attempt follows. Pure."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import field, replace
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.statuses import INTERNAL_ERROR, Failure, StopCause

KILLED = 137
"""The exit code of a PID 1 that got SIGKILL, for whatever reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEnd:
    """How one host ended."""

    host: str
    exit_code: int
    oom_killed: bool = False
    signalled: bool = False
    """True if smlocal sent it a signal before it ended."""
    killed: bool = False
    """True if smlocal sent it SIGKILL."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptOutcome:
    """Everything that decides how an attempt ended."""

    ends: tuple[HostEnd, ...] = ()
    """In the order in which the hosts ended."""
    first_failure: str | None = None
    """The host with the first non-zero exit code before any stop."""
    stopped: StopCause | None = None
    interrupted: bool = False
    """True after a spot interruption: exit codes then do not matter."""
    failure: Failure | None = None
    """One that counts whatever the hosts did: data, disk, image, engine."""

    @property
    def decided(self) -> bool:
        """True if nothing that a container does can change how the job ends."""
        return any(fact is not None for fact in (self.first_failure, self.stopped, self.failure))

    @property
    def failed(self) -> bool:
        """True if the job will end as Failed."""
        return self.decided and (self.stopped is None or self.failure is not None)


@dataclass(kw_only=True, slots=True)
class Course:
    """How a job, or an attempt of it, has gone so far."""

    outcome: AttemptOutcome = field(default_factory=AttemptOutcome)
    explanation: str | None = None
    """The real cause, if the service would only report an internal error."""
    hints: list[str] = field(default_factory=list)

    def fail(self, failure: Failure, explanation: str | None) -> None:
        """It fails for this reason."""
        self.explanation = explanation
        self.outcome = replace(self.outcome, failure=failure)

    def break_off(self, failure: Failure, why: str | None) -> None:
        """It fails, unless its end is decided already. `why` is told in any case."""
        self.explanation = "; ".join(filter(None, (self.explanation, why))) or None
        if not self.outcome.decided:
            self.outcome = replace(self.outcome, failure=failure)


class Trouble(StrEnum):
    """The kind of the problem."""

    NOT_STARTED = "not-started"
    """The engine or the kernel could not start the program."""
    FAILED = "failed"
    """The program exited with another code than 0."""
    NOT_STOPPED = "not-stopped"
    """The program did not end after SIGTERM, and was killed."""
    NO_MODEL = "no-model"
    """All programs exited with 0, and no model was left."""


Archive = Callable[[str], Generator[bytes, None, None]]
"""Gives a path of a container as a tar archive, with the path itself first. Raises `EngineError`."""


def _no_files(path: str) -> Generator[bytes, None, None]:
    raise FileNotFoundError(path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Symptoms:
    """The symptoms of one host."""

    trouble: Trouble
    log: str = ""
    """The end of its output; of a program that did not start, the message of the engine too."""
    failure: str = ""
    """The text that it wrote into the file in which a program says why it failed."""
    archive: Archive = field(default=_no_files, repr=False)
    """The archive of its container."""
    changed: Callable[[], Sequence[str]] = field(default=tuple, repr=False)
    """The paths that the container changed outside mounts. Raises `EngineError` early if that takes long."""


class RestartCause(StrEnum):
    """Why a job starts again."""

    INTERRUPTION = "interruption"
    RETRY = "retry"


@dataclass(kw_only=True, slots=True)
class RestartPolicy:
    """A spot interruption always restarts a job; an internal error does while retries remain."""

    retries: int
    """The further attempts after internal errors."""
    used: int = 0
    interruptions: int = 0

    @property
    def attempts(self) -> int:
        """How many there have been, with the one that runs."""
        return 1 + self.used + self.interruptions

    def after(self, outcome: AttemptOutcome) -> RestartCause | None:
        """The step after an attempt; None: the job is over."""
        if outcome.stopped is not None:
            return None
        if outcome.failure == INTERNAL_ERROR:
            if self.used >= self.retries:
                return None
            self.used += 1
            return RestartCause.RETRY
        if outcome.interrupted and not outcome.decided:
            self.interruptions += 1
            return RestartCause.INTERRUPTION
        return None
