"""One container of an endpoint: its health, and when something is to be done about it."""

import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.aspects.serving.plan import ServerPlan
from smlocal.sagemaker.serving.route import Address

_PING: Final = b"GET /ping HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n"
_LONGEST_LINE: Final = 4096
_FIRST_PAUSES: Final = (0.01, 0.5)
"""Between pings of a container that has just been started: the shortest and the longest."""
_PING_EVERY: Final = 5.0
"""Seconds between pings in service: inferred."""
_MOST_EARLY_ENDS: Final = 3
"""A container that ends so often before it has answered a ping is not started again."""
_SOON: Final = 10.0
"""Seconds. A container that ends sooner is started again after a pause that grows."""
_LONGEST_PAUSE: Final = 30.0
_TRY_SECONDS: Final = 1.0


@dataclass(kw_only=True, slots=True)
class Server:
    """What the supervisor knows of one container. Times are those of the monotonic clock."""

    run: HostRun
    plan: ServerPlan
    due: float = 0.0
    """When it is to be pinged; if it has ended, when it is to be started again."""
    ready: bool = False
    """True once a ping was answered."""
    ended: bool = False
    """True until it is started again."""
    trouble: str | None = None
    """Why the last ping was not answered."""
    started: float = 0.0
    deadline: float = 0.0
    """When the first ping must have been answered."""
    early: int = 0
    """How often it has ended before it had answered a ping."""
    taken_over: bool = False
    """True while the container is one of an earlier supervisor: some of its output was not read."""
    _pause: float = 0.0
    """Before the next restart."""
    _between: float = _FIRST_PAUSES[0]
    """Before the next of the first pings."""

    @property
    def name(self) -> str:
        """The name of its host."""
        return self.run.name

    @property
    def given_up(self) -> bool:
        """True if it has ended too often before it had answered a ping."""
        return self.early >= _MOST_EARLY_ENDS

    @property
    def late(self) -> bool:
        """True if a first ping should have been answered by now."""
        return not self.ready and time.monotonic() >= self.deadline

    def on_start(self) -> None:
        """It has been started, for the first time or again."""
        self.ended = False
        self.started = self.due = time.monotonic()
        self._between = _FIRST_PAUSES[0]

    def on_first_start(self) -> None:
        """The time for the first ping begins."""
        self.on_start()
        self.deadline = self.started + self.plan.startup

    def on_taken_over(self, *, ready: bool) -> None:
        """It was started by an earlier supervisor, now or long ago."""
        self.on_first_start()
        self.taken_over, self.ready = True, ready
        self.due += _PING_EVERY if ready else 0.0

    def on_end(self) -> float:
        """It has ended; returns the pause before it is to be started again."""
        self.ended = True
        self.early += not self.ready
        soon = time.monotonic() - self.started < _SOON
        self._pause = min(max(0.5, self._pause * 2), _LONGEST_PAUSE) if soon and self.ready else 0.0
        self.due = time.monotonic() + self._pause
        return self._pause

    def on_counted_end(self, trouble: str) -> None:
        """It had ended already when it was taken over, and only its restart is to come."""
        self.ended, self.taken_over, self.trouble = True, False, trouble
        self.due = time.monotonic()

    def look(self, seconds: float) -> str | None:
        """Ping it, and decide when to do that again; returns why it has not answered."""
        address = self.address()
        self.trouble = "the container has no address" if address is None else ping(address, seconds=seconds)
        if self.trouble is None:
            self.ready = True
            self.due = time.monotonic() + _PING_EVERY
        elif self.ready:
            self.due = time.monotonic() + _FIRST_PAUSES[1]
        else:
            self.due = min(time.monotonic() + self._between, self.deadline)
            self._between = min(self._between * 1.1, _FIRST_PAUSES[1])
        return self.trouble

    @property
    def silence(self) -> str:
        """Why it has not become healthy in time."""
        said = f"{self.trouble}, for {self.plan.startup:g} s"
        return said + self.port_hint

    @property
    def port_hint(self) -> str:
        """What its program may have overlooked, where containers have the ports of smlocal itself."""
        if self.run.plan.engines.first.place is None:
            return ""
        return f"; here the program must listen on the port in SAGEMAKER_BIND_TO_PORT, {self.plan.port}"

    def address(self) -> Address | None:
        """Where it is reached; None if it has no address now."""
        if self.plan.published:
            return "127.0.0.1", self.plan.published
        try:
            found = self.run.engine.addresses(self.run.container.id)
        except (EngineError, MachineNotReadyError):
            return None
        return (found[0], self.plan.port) if found else None


def ports_taken(servers: Sequence[Server]) -> Mapping[int, Exception]:
    """Why none of them may be started: another program has a port of theirs, and would answer in their place.

    Only where containers have the ports of smlocal itself.
    """
    for each in servers:
        with socket.socket() as probe:
            probe.settimeout(_TRY_SECONDS)
            if probe.connect_ex(("127.0.0.1", each.plan.port)) == 0:
                error = EngineError(f"another program uses port {each.plan.port} of this machine")
                return dict.fromkeys(range(len(servers)), error)
    return {}


def ping(address: tuple[str, int], *, seconds: float) -> str | None:
    """None if it has answered 200 in time; else why it is not healthy."""
    deadline = time.monotonic() + seconds
    try:
        # `create_connection` would import the codec of international names, for an address that has none.
        with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET) as connection:
            connection.settimeout(seconds)
            connection.connect(address)
            connection.sendall(_PING)
            answer = b""
            while b"\n" not in answer and len(answer) < _LONGEST_LINE:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                piece = connection.recv(_LONGEST_LINE)
                if not piece:
                    break
                answer += piece
    except TimeoutError:
        return f"no answer to /ping within {seconds:g} s"
    except OSError as error:
        return f"nothing can be reached at port {address[1]}: {error.strerror or error}"
    words = answer.partition(b"\n")[0].split()
    with suppress(ValueError, IndexError):
        status = int(words[1])
        return None if status == 200 else f"/ping answered {status}"  # noqa: PLR2004 - HTTP
    return "what answers /ping is not an HTTP server"
