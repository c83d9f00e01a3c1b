"""Deploy the image of a check, ask the endpoint what its rules want to know, and stop it."""

import http.client
import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from smlocal.api.endpoints import address_of, deploy_in_background, plan_of
from smlocal.api.stopping import wait_for_jobs
from smlocal.api.training_job import TrainingJob
from smlocal.check.cannot_look import CannotLookError, code_of
from smlocal.check.check_folder import CheckFolder, Said, remove_job
from smlocal.check.jobs.interface import PLAIN, Jobs, Process, StopSeen
from smlocal.check.jobs.run_jobs import container_of, processes, watch_end
from smlocal.check.serving.interface import AnswerSeen, EndpointSeen, ListenAddress, PingSeen, Probe
from smlocal.check.serving.model import ServingSubject, has_model, model_document, says_model_missing
from smlocal.engine.interface import Engine
from smlocal.errors import (
    EngineError,
    EngineLostError,
    EngineUnreachableError,
    ImageMissingError,
    JobFinishedError,
    MachineNotReadyError,
    SmlocalError,
)
from smlocal.errors.of_jobs import ModelMissingError
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.serving.model_file import read_model

_PING_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 70.0
_CONNECTIONS: Final = 5
"""Opened at once. With the one of the request they fit into the queue of Python's own servers, which holds six."""
_CONNECT_SECONDS: Final = 2.0
"""More than the second after which the kernel asks again."""
_RETRANSMITTED: Final = slice(100, 104)
"""`tcpi_total_retrans` in the kernel's `struct tcp_info`."""
_LOOK_SECONDS: Final = 10.0
_SHOWN: Final = 200
_ROW: Final = 4
_LISTENS: Final = "0A"
_DNS_OF_THE_ENGINE: Final = "0B00007F"
"""127.0.0.11, at which Docker answers inside each container."""
RUBBISH: Final[tuple[tuple[str, bytes], ...]] = (
    ("application/json", b'{"smlocal": [1, \x00\xff\xfe'),
    ("application/x-smlocal-rubbish", bytes(range(128, 256))),
)
"""JSON that is broken, and a type that nobody has heard of."""
_COMPILED: Final = (".pyc", "__pycache__")

Address = tuple[str, int]


def ping(address: Address) -> PingSeen:
    """As the service does: GET /ping, with 2 s for the answer."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(*address, timeout=_PING_SECONDS)
    try:
        with closing(connection):
            connection.request("GET", "/ping")
            status = connection.getresponse().status
        return PingSeen(status, time.monotonic() - began, "")
    except TimeoutError:
        trouble = f"no answer to /ping within {_PING_SECONDS:g} s"
    except ConnectionRefusedError:
        trouble = f"nothing listens on port {address[1]}"
    except (OSError, http.client.HTTPException) as error:
        trouble = f"the connection for /ping broke: {str(error) or type(error).__name__}"
    return PingSeen(0, time.monotonic() - began, trouble)


def ping_beside_another(address: Address, content_type: str) -> PingSeen:
    """Ping while the server waits for the rest of another request."""
    try:
        with _partial_request(address, content_type):
            return ping(address)
    except OSError as error:
        return PingSeen(0, 0.0, f"the connection broke: {error}")


@contextmanager
def _partial_request(address: Address, content_type: str) -> Iterator[None]:
    """While the server waits for the rest of it; `OSError` if it cannot be sent."""
    lines = ("POST /invocations HTTP/1.1", "Host: localhost", f"Content-Type: {content_type}", "Content-Length: 1024")
    with socket.create_connection(address, timeout=_PING_SECONDS) as other:
        other.sendall("\r\n".join((*lines, "", "1,")).encode())
        yield


def late_connections(address: Address, content_type: str) -> tuple[int, int] | None:
    """Open several while the server waits for the rest of a request: how many are late, and how many there are.

    The kernel drops what has no place in the queue of the server, and asks again after a second. So nothing that this
    machine is busy with is taken for the server. None: the system does not tell.
    """
    if not hasattr(socket, "TCP_INFO"):
        return None
    with ExitStack() as stack:
        try:
            stack.enter_context(_partial_request(address, content_type))
        except OSError:
            return None
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        opened = [stack.enter_context(socket.socket(family)) for _ in range(_CONNECTIONS)]
        for each in opened:
            each.setblocking(False)
            each.connect_ex(address)
        deadline = time.monotonic() + _CONNECT_SECONDS
        waiting = opened
        while waiting and (left := deadline - time.monotonic()) > 0:
            _, ready, _ = select.select([], waiting, [], left)
            waiting = [each for each in waiting if each not in ready]
        return len(waiting) + sum(_was_asked_again(each) for each in opened if each not in waiting), _CONNECTIONS


def _was_asked_again(connection: socket.socket) -> bool:
    """Whether a packet was sent again: nothing else was sent than that which opens the connection."""
    told = b""
    if sys.platform == "linux":
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RETRANSMITTED.stop)
    return any(told[_RETRANSMITTED])


def ask(url: str, body: bytes, content_type: str, *, key: Mapping[str, str]) -> AnswerSeen:
    """One invocation through the endpoint. `key`: the headers that its address demands."""
    parts = urlsplit(url)
    asked = f"{shown(body)} ({content_type})"
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)
    try:
        with closing(connection):
            connection.request("POST", parts.path, body=body, headers={"Content-Type": content_type, **key})
            answer = connection.getresponse()
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return AnswerSeen(asked, 0, str(error) or type(error).__name__)
    if answer.status == 200:  # noqa: PLR2004 - HTTP
        return AnswerSeen(asked, 200, shown(content))
    try:
        said: Mapping[str, object] = json.loads(content)
    except ValueError:
        said = {}
    status = said.get("OriginalStatusCode")
    text = str(said.get("OriginalMessage") or said.get("Message") or content.decode(errors="replace"))
    return AnswerSeen(asked, status if isinstance(status, int) else 0, text[:_SHOWN])


def shown(content: bytes) -> str:
    """The beginning of a body, in one line."""
    try:
        text = " ".join(content[: _SHOWN * 4].decode().split())
    except UnicodeDecodeError:
        return f"{len(content)} bytes"
    return f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}"


def listeners(engine: Engine, container: str) -> tuple[ListenAddress, ...] | None:
    """Where the container listens, by its own `cat`; None if that is not known."""
    if engine.facts().place is not None:
        return None  # its ports are those of this machine, and other programs listen here too
    text = _output(engine, container, ("cat", "/proc/net/tcp", "/proc/net/tcp6"))
    return None if "local_address" not in text else tuple(dict.fromkeys(_listeners(text)))


def _listeners(text: str) -> Iterator[ListenAddress]:
    for line in text.splitlines():
        words = line.split()
        if len(words) < _ROW or words[3] != _LISTENS or words[1].startswith(_DNS_OF_THE_ENGINE):
            continue
        host, _, port = words[1].partition(":")
        loopback = host.endswith("7F") and (len(host) == 8 or "FFFF" in host)  # noqa: PLR2004 - IPv4, or in IPv6
        yield ListenAddress(loopback=loopback or host == "0" * 24 + "01000000", port=int(port, 16))


def _output(engine: Engine, container: str, command: tuple[str, ...]) -> str:
    """What a program in the container prints; nothing if it cannot be started."""
    found = b""
    deadline = time.monotonic() + _LOOK_SECONDS
    try:
        with closing(engine.execute(container, command, terminal=False)) as streams:
            while (left := deadline - time.monotonic()) > 0:
                select.select([streams], [], [], left)
                pieces = streams.read()
                if pieces is None:
                    break
                found += b"".join(piece for stream, piece in pieces if stream == 1)
    except (EngineError, MachineNotReadyError, OSError):
        return ""
    return found.decode(errors="replace")


def written_since(folder: str, began: float) -> tuple[str, ...]:
    """Paths below a folder that were changed after a time; files that Python compiles do not count."""
    found = []
    for place, folders, files in os.walk(folder):
        compiled = any(name in _COMPILED for name in folders) or any(name.endswith(_COMPILED) for name in files)
        folders[:] = [name for name in folders if name not in _COMPILED]
        here = [name for name in files if not name.endswith(_COMPILED) and _is_later(os.path.join(place, name), began)]
        if not here and not compiled and _is_later(place, began):
            here = ["."]  # something was removed, or a folder was made
        found += [os.path.normpath(os.path.join(os.path.relpath(place, folder), name)) for name in here]
    return tuple(sorted(found))


def _is_later(path: str, began: float) -> bool:
    try:
        return os.lstat(path).st_mtime > began
    except OSError:
        return False


_GENERAL: Final = (EngineLostError, EngineUnreachableError, ImageMissingError, ModelMissingError)
"""Errors that end a check. After any other error the rules about the endpoint are skipped."""
_POLL_SECONDS: Final = 0.1
_LOOK_EVERY: Final = 1.0
_NOTICED_SECONDS: Final = 10.0
_PINGS: Final = 3
_LINES: Final = 5
_ENDS_WITHIN: Final = 60.0
"""Seconds beside its grace."""
_CLOCKS: Final = 0.05
"""Seconds by which the clock of files may be late."""
_GUESSED: Final = b"0,0,0\n"
_CSV: Final = "text/csv"


class RunningEndpoint:
    """The endpoint of one check; nothing of it is left when this is closed."""

    def __init__(
        self,
        serving: ServingSubject,
        engine: Engine,
        folder: CheckFolder,
        *,
        jobs: Jobs | None,
        wanted: frozenset[Probe],
        timeout: int,
        said: Said = lambda _: None,
    ) -> None:
        """Nothing is deployed yet. `jobs` has the job whose model is served."""
        self._serving, self._engine, self._folder = serving, engine, folder
        self._jobs, self._wanted, self._timeout, self._said = jobs, wanted, timeout, said
        self._name = folder.name_of("serve")
        self._seen: EndpointSeen | None = None
        self._refused: CannotLookError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            remove_job(self._name)
        except SmlocalError as trouble:
            self._folder.say_of_leftovers(trouble)

    @property
    def body_is_guessed(self) -> bool:
        """Whether a line of numbers is asked, for want of a better request."""
        return self._serving.body is None

    @property
    def trained(self) -> str:
        """Wait for the plain job."""
        if self._jobs is None or not self._serving.after_training:
            return ""
        plain = self._jobs.result(PLAIN)
        if not plain.completed:
            raise CannotLookError(
                "the job whose model is to be served does not complete",
                (plain.how, *plain.reason_lines),
                test="make it complete first",
            )
        return plain.archive

    def seen(self) -> EndpointSeen:
        """Everything about it."""
        if self._refused is not None:
            error = self._refused
            raise CannotLookError(str(error), error.details, test=error.test, code=error.code)
        if self._seen is None:
            try:
                self._seen = self._run()
            except CannotLookError as error:
                self._refused = error
                raise
            except _GENERAL:
                raise
            except SmlocalError as error:
                why, code = f"no endpoint was made: {error.with_details}", code_of(error)
                self._refused = CannotLookError(why, test="solve that first", code=code)
                raise self._refused from error
        return self._seen

    def _run(self) -> EndpointSeen:
        trained = self.trained
        document = model_document(self._serving, trained=trained, timeout=self._timeout)
        grace = document.data["Local"]["StopGraceSeconds"]
        began = time.monotonic()
        self._said("serving the model that the job has left" if trained else "serving")
        deploy_in_background(read_model(document), name=self._name, replace=False)
        watched = _Watched(self._engine, self._name)
        in_service = watched.wait()
        self._said(f"serve: {TrainingJob(self._name).state}, {time.monotonic() - began:.1f} s")
        seen = EndpointSeen(
            endpoint="serve",
            in_service=in_service,
            explanation="",
            limit=document.data["Local"]["Serving"]["StartupSeconds"],
            port=watched.port,
            listeners=watched.listeners,
            reached=watched.reached,
            ends=0,
            exit_code=None,
            pings=(watched.ping,) if watched.ping is not None else (),
            grace=grace,
            log=(),
        )
        if in_service:
            seen = self._asked(seen, watched)
        stopped = self._stop(watched, grace if in_service and Probe.STOP in self._wanted else 0)
        wait_for_jobs([self._name], timeout=grace + _ENDS_WITHIN, home=self._folder.home)
        return self._with_end(seen, stopped, has_model=has_model(document))

    def _asked(self, seen: EndpointSeen, watched: "_Watched") -> EndpointSeen:
        address = watched.address()
        url, key = address_of(self._name)
        kind = self._serving.content_type or _CSV
        pings = [ping(address) for _ in range(_PINGS)]
        if Probe.ASK in self._wanted:
            answer = ask(url, self._serving.body if self._serving.body is not None else _GUESSED, kind, key=key)
            self._said(f"serve: asked {answer.asked}, it answered {answer.status or 'nothing'}: {answer.text}")
            seen = replace(seen, answer=answer)
        if Probe.TOGETHER in self._wanted:
            seen = replace(seen, blocked=ping_beside_another(address, kind))
        if Probe.CONNECT in self._wanted and not watched.published:
            seen = replace(seen, connections=late_connections(address, kind))
        if Probe.MODEL in self._wanted:
            seen = replace(seen, written=watched.written())
        pings.append(ping(address))
        if Probe.RUBBISH in self._wanted:  # the last question: it may be the end of the server
            answers: list[AnswerSeen] = []
            for rubbish_kind, body in RUBBISH:
                if all(each.status for each in answers):
                    answers.append(ask(url, body, rubbish_kind, key=key))
            if not answers[-1].status:
                self._await_end(watched)
            seen = replace(seen, rubbish=tuple(answers))
        return replace(seen, pings=tuple(pings))

    def _await_end(self, watched: "_Watched") -> None:
        """Wait until the endpoint notices that the container ended, or is seen to run."""
        deadline = time.monotonic() + _NOTICED_SECONDS
        while time.monotonic() < deadline:
            is_alive = watched.is_alive()  # first: a new container starts after the count
            if TrainingJob(self._name).describe()["Local"].get("RestartCount") or is_alive:
                return
            time.sleep(_POLL_SECONDS)

    def _stop(self, watched: "_Watched", grace: float) -> StopSeen | None:
        """SIGTERM, then SIGKILL after the grace; at once if the first process cannot get the first signal."""
        job = TrainingJob(self._name)
        container = watched.container()
        before = processes(self._engine, container) if container and grace else ()
        if before and not before[0].handles_sigterm:
            grace = 0
        began = time.monotonic()
        try:
            job.stop(grace=grace)
        except JobFinishedError:
            return None
        if not before:
            return None
        first: Process
        first, *others = watch_end(self._engine, container, before, over=lambda: job.status.terminal)
        return StopSeen(first=first, others=tuple(others), seconds=time.monotonic() - began)

    def _with_end(self, seen: EndpointSeen, stop: StopSeen | None, *, has_model: bool) -> EndpointSeen:
        job = TrainingJob(self._name)
        log = list(job.logs())
        local: dict[str, Any] = job.describe()["Local"]
        hosts = local.get("Hosts") or [{}]
        restarts = local.get("Restarts") or []
        ended = seen.in_service is False and job.status == "Failed"
        own_end = hosts[0].get("ExitCode") if ended and restarts else None
        return replace(
            seen,
            explanation=local.get("Explanation") or "it was not waited for any longer",
            ends=int(local.get("RestartCount") or 0) + (own_end is not None),
            exit_code=own_end if own_end is not None else (restarts[-1]["ExitCode"] if restarts else None),
            stop=stop,
            killed=bool(hosts[0].get("Killed")),
            log=tuple(log[-_LINES:]),
            misses_model=not has_model and says_model_missing(log),
        )


class _Watched:
    """The endpoint and its first container, while it lives."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name
        self._host = plan_of(name).hosts[0]
        if self._host.server is None:
            raise AssertionError(name)  # every container of an endpoint has one
        self._server = self._host.server
        self.port = self._server.port
        self.listeners: tuple[ListenAddress, ...] | None = None
        self.ping: PingSeen | None = None
        self.reached = False

    @property
    def published(self) -> bool:
        """True if the engine stands in front of the container."""
        return bool(self._server.published)

    def wait(self) -> bool:
        """Until it is in service; False if it has ended, or cannot get there."""
        look_at, hidden = 0.0, 0
        while True:
            job = TrainingJob(self._name)
            state = job.state
            if state == "InService":
                return True
            if job.status.terminal:
                return False
            if time.monotonic() >= look_at:
                self._look()
                hidden = hidden + 1 if self._is_hidden() else 0
                if hidden > 1:
                    return False  # a socket does not move to another address
                look_at = time.monotonic() + _LOOK_EVERY
            time.sleep(_POLL_SECONDS)

    def _look(self) -> None:
        """Where it listens, and what it answers; nothing is known of a container that has just ended."""
        container = self.container()
        found = listeners(self._engine, container) if container else None
        if found is not None:
            self.listeners = found
        with suppress(CannotLookError):
            found_ping = ping(self.address())
            if found_ping.shows_server or self.ping is None or not self.ping.shows_server:
                self.ping = found_ping
            self.reached = self.reached or bool(found_ping.status)

    def _is_hidden(self) -> bool:
        ours = [each for each in self.listeners or () if each.port == self.port]
        return bool(ours) and all(each.loopback for each in ours)

    def container(self) -> str:
        """Its id; empty if there is none now."""
        try:
            return container_of(self._engine, self._name, self._host.host.name)
        except (EngineError, MachineNotReadyError):
            return ""

    def address(self) -> Address:
        """Where this machine reaches the container itself."""
        if self._server.published:
            return "127.0.0.1", self._server.published
        container = self.container()
        try:
            found = self._engine.addresses(container) if container else ()
        except (EngineError, MachineNotReadyError):
            found = ()
        if not found:
            raise CannotLookError("the container has no address")
        return found[0], self.port

    def is_alive(self) -> bool:
        """Whether the endpoint answers a ping now."""
        with suppress(CannotLookError):
            return ping(self.address()).shows_server
        return False

    def written(self) -> tuple[str, ...] | None:
        """What the container has changed in its model."""
        trees = self._host.inputs.trees
        folder = next((tree.listing.root for tree in trees if tree.target == paths.MODEL), "")
        container = self.container()
        if not container or not os.path.isdir(folder):
            return None
        started = datetime.fromisoformat(self._engine.state(container).started_at).timestamp()
        return written_since(folder, started - _CLOCKS)
