"""What a check asks an endpoint, and what it has seen. Rules use endpoints only through this file."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.jobs.interface import StopSeen

NOT_IN_SERVICE = "the endpoint does not get into service"
MODEL_REMEDY = (
    "The log says that the model is missing, and none is served: give one with --model PATH, or check the job with "
    "--train-and-serve."
)
_PING_SECONDS = 2.0
_OK = 200


class Probe(StrEnum):
    """One question to an endpoint. Each endpoint is pinged, whatever is asked besides."""

    PING = "ping"
    RUBBISH = "rubbish"
    TOGETHER = "two at once"
    CONNECT = "several connections"
    MODEL = "model folder"
    ASK = "ask once"
    STOP = "stop"


class ListenAddress(NamedTuple):
    """An address at which a process of the container listens."""

    loopback: bool
    """Only processes of the container reach it."""
    port: int


class PingSeen(NamedTuple):
    """One GET /ping."""

    status: int
    """0: no answer of an HTTP server."""
    seconds: float
    trouble: str
    """Why there is no answer."""

    @property
    def is_healthy(self) -> bool:
        """Whether the service would call the container healthy."""
        return self.status == _OK and self.seconds <= _PING_SECONDS

    @property
    def shows_server(self) -> bool:
        """True if the server answered or kept it waiting. The end of the container may break a connection too."""
        return bool(self.status) or self.seconds >= _PING_SECONDS

    @property
    def said(self) -> str:
        """As a clause, of a ping that is not healthy."""
        if not self.status:
            return self.trouble
        if self.status == _OK:
            return f"/ping answered after {self.seconds:.1f} s"
        return f"/ping answered {self.status}"


class AnswerSeen(NamedTuple):
    """An answer to one request."""

    asked: str
    """The body and its type, as a clause."""
    status: int
    """That of the container; 0: it gave no whole answer."""
    text: str
    """The beginning of the answer."""

    @property
    def is_of_the_server(self) -> bool:
        """Whether the error, if it is one, is that of the server and not of the request."""
        return self.status == 0 or self.status >= 500  # noqa: PLR2004 - HTTP


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSeen:
    """An endpoint that has ended."""

    endpoint: str
    """Its short name, for findings."""
    in_service: bool
    explanation: str
    """Why it did not get into service."""
    limit: int
    """Seconds that it had for that."""
    port: int
    """Where its first container is called: 8080, or another beside other containers."""
    listeners: tuple[ListenAddress, ...] | None
    """None: not known."""
    reached: bool
    """Whether anything was reached at the port."""
    ends: int
    """How often the container ended by itself."""
    exit_code: int | None
    """Of the last such end."""
    pings: tuple[PingSeen, ...]
    """Those in service; else the last one."""
    rubbish: tuple[AnswerSeen, ...] = ()
    blocked: PingSeen | None = None
    """The ping while another request was being sent; None: not asked."""
    connections: tuple[int, int] | None = None
    """Of those opened at once: how many were late, and how many there were; None: not asked, or not known."""
    written: tuple[str, ...] | None = None
    """Paths below /opt/ml/model that the container has changed; None: it has no model, or it cannot be read."""
    answer: AnswerSeen | None = None
    """To the one request of the user, or to a line of the training data."""
    stop: StopSeen | None = None
    killed: bool = False
    """With SIGKILL, after its grace, or because SIGTERM could not have any effect."""
    grace: int
    """Seconds between the two signals."""
    log: tuple[str, ...]
    """Its last lines."""
    misses_model: bool = False
    """Whether no model is served, and the log says that one is missing."""

    @property
    def needs_service(self) -> "EndpointSeen":
        """Itself; `CannotLookError` if it was never in service."""
        if not self.in_service:
            raise self.not_judged()
        return self

    @property
    def end_in_service(self) -> str:
        """How the container ended in service by itself; empty if it did not."""
        if not self.in_service or not self.ends:
            return ""
        ended = f"the container ended, with exit code {self.exit_code},"
        if self.pings and all(each.status for each in self.pings[:-1]):  # before the first request
            if self.answer is not None and not self.answer.status:
                return f"{ended} when /invocations got {self.answer.asked}"
            silent = [each.asked for each in self.rubbish if not each.status]
            if self.pings[-1].status and silent:
                return f"{ended} when /invocations got {silent[0]}"
            if self.blocked is not None:
                return f"{ended} at a request that was broken off"
        return f"{ended} while it was in service"

    @property
    def is_reached(self) -> bool:
        """Whether something at the port can be called from outside."""
        return (
            self.in_service or self.reached or any(e.port == self.port and not e.loopback for e in self.listeners or ())
        )

    @property
    def is_started(self) -> bool:
        """Whether the container ran, and did not end by itself."""
        return not self.ends and "cannot be started: " not in self.explanation

    @property
    def model_remedy(self) -> str:
        """The remedy for a server that only lacks a model; empty if its log does not say so."""
        return MODEL_REMEDY if self.misses_model else ""

    def not_judged(self) -> CannotLookError:
        """The reason to skip a rule, where another rule says what is wrong."""
        return CannotLookError(f"{NOT_IN_SERVICE}: {self.explanation}", test="let it answer /ping first")

    @property
    def details(self) -> tuple[str, ...]:
        """The end of the log."""
        return ("last lines of the log:", *(f"  {line}" for line in self.log)) if self.log else ()


class EndpointTrial(Protocol):
    """Deploys the image."""

    @property
    def trained(self) -> str:
        """The model that the image has trained; empty if it serves another, or none."""
        ...

    @property
    def body_is_guessed(self) -> bool:
        """True if nobody has said what the image can be asked."""
        ...

    def seen(self) -> EndpointSeen:
        """Deploy it, ask everything, and stop it; once in a check. Raises `CannotLookError`."""
        ...
