"""Calls to an engine's API. Every failure becomes one of the classes in `errors`."""

import json
import math
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from shlex import join
from typing import Any

from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import Place, Product
from smlocal.engine.http import (
    VARIABLE,
    Answer,
    BrokenAnswerError,
    Call,
    CallLimit,
    SlowAnswerError,
    Timeouts,
    UnexpectedAnswerError,
    chosen_timeouts,
    exchange,
    query,
)
from smlocal.errors import (
    EngineAnswerError,
    EngineError,
    EngineForbiddenError,
    EngineLostError,
    EngineTimeoutError,
    EngineUnreachableError,
    PlaceRefusedError,
)

NEWEST_API = (1, 47)
"""The newest version of the API that smlocal uses; for an older engine, that engine's version is used."""
METADATA = "/opt/ml/metadata/resource-metadata.json"
"""The service writes it in each app of SageMaker Studio, and in notebook instances."""
_FORBIDDEN = 403
_FAIL_AT_ONCE_SECONDS = 1.0
"""Seconds for which nothing is sent to an engine that was just lost."""


def place_here(metadata: str = METADATA) -> Place | None:
    """The place where this process runs; None for a machine whose engine is its own, as most are."""
    if not os.path.exists(metadata):
        return None
    from smlocal.engine.place import place_of  # for few users

    return place_of(metadata)


def place_at(endpoint: EngineAddress) -> Place | None:
    """The place that restricts the engine at this address: only the one at a socket of this machine is its."""
    return place_here() if endpoint.local else None


class Client:
    """One engine's API. Each call has its own connection, which costs 50 µs, so any thread may use the client.

    Every call has time limits. If the engine is silent during a call, another connection checks whether it is there.
    If not, it is lost, and each later call begins with a short check.
    """

    def __init__(self, endpoint: EngineAddress, *, timeouts: Timeouts | None = None) -> None:
        """Store the address; nothing is sent yet."""
        self.endpoint = endpoint
        self.place = place_at(endpoint)
        self.timeouts = timeouts or chosen_timeouts()
        self._greeting: dict[str, str] = {}
        self._heard_at = -math.inf
        self._lost_at: float | None = None
        self._lost_reason = ""

    def greet(self) -> Mapping[str, str]:
        """Send the first request, once, and return the headers with product and API version."""
        if not self._greeting and self.place is not None:
            from smlocal.engine.place import greet  # for few users

            with self._with_our_errors("GET /version"):
                self._greeting = greet(lambda target: self._exchange("GET", target, call=Call.GREETING))
        if not self._greeting:
            with self._with_our_errors("GET /_ping"), self._exchange("GET", "/_ping", call=Call.GREETING) as answer:
                body = answer.read()
                if "api-version" not in answer.headers:
                    raise BrokenAnswerError(f"status {answer.status} without an API version: {body[:80]!r}")
                if answer.status != 200:  # noqa: PLR2004  HTTP's OK
                    raise EngineError(_message(body, answer.status), status=answer.status)
                self._greeting = answer.headers
        return self._greeting

    @property
    def product(self) -> Product:
        """Which engine it is; anything but Podman counts as Docker."""
        return "podman" if self.greet().get("server", "").startswith("Libpod/") else "docker"

    @contextmanager
    def ask(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        document: Mapping[str, Any] | None = None,
        data: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        fine: Collection[int] = (),
        prefix: str | None = None,
        call: Call = Call.QUESTION,
        still: Callable[[], None] | None = None,
    ) -> Iterator[Answer]:
        """Make a call. An error status that is not in `fine` raises `EngineError` with the engine's message.

        `prefix` is that of another API than Docker's. `still` is called from time to time while the engine is silent,
        instead of `check`, and raises to end the call.
        """
        fields = dict(headers or {})
        if document is not None:
            data = json.dumps(document).encode()
            fields["Content-Type"] = "application/json"
        target = (prefix or self._prefix()) + path + query(parameters or {})
        self._check_if_lost()
        with (
            self._with_our_errors(f"{method} {path}"),
            self._exchange(method, target, headers=fields, body=data, call=call, still=still) as answer,
        ):
            if answer.status >= 400 and answer.status not in fine:  # noqa: PLR2004  where HTTP's errors begin
                raise self._refusal(f"{method} {path}", answer)
            yield answer

    def tell(self, method: str, path: str, *, parameters: Mapping[str, str] | None = None, **more: Any) -> int:
        """Make a call and return the status."""
        with self.ask(method, path, parameters=parameters, **more) as answer:
            answer.read()
            return answer.status

    def read(self, path: str, *, parameters: Mapping[str, str] | None = None, call: Call = Call.QUESTION) -> Any:
        """Get a JSON document."""
        with self.ask("GET", path, parameters=parameters, call=call) as answer:
            return answer.json()

    def post(self, path: str, document: Mapping[str, Any], *, parameters: Mapping[str, str] | None = None) -> Any:
        """Post a JSON document and return the answer."""
        with self.ask("POST", path, parameters=parameters, document=document, call=Call.ACTION) as answer:
            return answer.json()

    def attach(
        self, path: str, *, parameters: Mapping[str, str] | None = None, document: Mapping[str, Any] | None = None
    ) -> Answer:
        """Upgrade a connection to a raw stream without time limits. The caller closes it."""
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        body = None
        if document is not None:
            body = json.dumps(document).encode()
            headers["Content-Type"] = "application/json"
        target = self._prefix() + path + query(parameters or {})
        self._check_if_lost()
        with self._with_our_errors(f"POST {path}"):
            answer = self._exchange("POST", target, headers=headers, body=body, call=Call.ACTION)
            if answer.status >= 400:  # noqa: PLR2004  as above
                with answer:
                    raise self._refusal(f"POST {path}", answer)
            if answer.status != 101 and "stream" not in answer.headers.get("content-type", ""):  # noqa: PLR2004  HTTP's Switching Protocols
                answer.close()
                raise UnexpectedAnswerError(f"status {answer.status} and no stream")
            answer.unlimit()
            return answer

    def _refusal(self, what: str, answer: Answer) -> EngineError:
        """The error for an error status."""
        message = _message(answer.read(), answer.status)
        if self.place is not None and answer.status == _FORBIDDEN:
            return self.refused(what, message)
        return EngineError(message, status=answer.status)

    def refused(self, what: str, why: str) -> PlaceRefusedError:
        """The error for something that the place refuses, or is not asked for because it would."""
        name = self.place.name if self.place is not None else "this place"
        return PlaceRefusedError(
            f"{name} refuses {what}: {why}",
            status=_FORBIDDEN,
            remedy=("smlocal doctor names what is allowed here.", "smlocal submit runs the job on the service."),
        )

    def check(self) -> None:
        """Raise `EngineLostError` unless the engine answers. Nothing is sent if it has just answered another call."""
        if time.monotonic() - self._heard_at >= self.timeouts.silence / 2:
            self._ping(self.timeouts.total(Call.GLANCE))

    def _check_if_lost(self) -> None:
        """Before a call to a lost engine, check that it is back. For a second after the loss, fail at once."""
        if self._lost_at is None:
            return
        if time.monotonic() - self._lost_at < _FAIL_AT_ONCE_SECONDS:
            raise self._no_answer(self._lost_reason)
        self._ping(self.timeouts.again)

    def _ping(self, seconds: float) -> None:
        try:
            ping = f"{self._prefix() if self._greeting else ''}/_ping" if self.place is not None else "/_ping"
            self._exchange("GET", ping, call=Call.GLANCE, seconds=seconds).close()
        except (BrokenAnswerError, SlowAnswerError) as error:
            raise self._mark_as_lost(str(error)) from error
        self._lost_at = None

    def _mark_as_lost(self, why: str) -> EngineLostError | EngineUnreachableError:
        """Remember that the engine is lost, so that further calls fail fast."""
        self._lost_at, self._lost_reason = time.monotonic(), why
        return self._no_answer(why)

    def _prefix(self) -> str:
        own = self.greet()["api-version"].split(".")
        try:
            version = min((int(own[0]), int(own[1])), NEWEST_API)
        except (ValueError, IndexError):
            version = NEWEST_API
        return f"/v{version[0]}.{version[1]}"

    def _exchange(
        self,
        method: str,
        target: str,
        *,
        call: Call,
        headers: Mapping[str, str] | None = None,
        body: bytes | Iterable[bytes] | None = None,
        still: Callable[[], None] | None = None,
        seconds: float | None = None,
    ) -> Answer:
        timeouts = self.timeouts
        total = timeouts.total(call) if seconds is None else seconds
        # A check must not start another check.
        pause = min(timeouts.silence, total) if call not in {Call.GREETING, Call.GLANCE} else total
        limit = CallLimit(pause=pause, total=total, quiet=timeouts.quiet(call), still=still or self.check)
        try:
            connection = self.endpoint.connect(min(timeouts.connect, total))
        except PermissionError as error:
            if self._greeting:
                raise self._no_answer(str(error.strerror)) from error
            raise self._forbidden() from error
        except TimeoutError as error:
            raise self._mark_as_lost(error.strerror or str(error)) from error
        except OSError as error:
            raise self._no_answer(error.strerror or str(error)) from error
        answer = exchange(connection, method, target, limit=limit, headers=headers, body=body)
        self._heard_at = time.monotonic()
        return answer

    @contextmanager
    def _with_our_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except UnexpectedAnswerError as error:
            if not self._greeting:
                raise self._no_answer(str(error)) from error
            raise self.unexpected(what, str(error)) from error
        except BrokenAnswerError as error:
            raise self._no_answer(str(error)) from error
        except SlowAnswerError as error:
            if not self._greeting:
                raise self._no_answer(str(error)) from error
            raise self._too_slow(what, str(error)) from error

    def unexpected(self, what: str, why: str) -> EngineAnswerError:
        """The error for an answer with unexpected content."""
        return EngineAnswerError(f"the engine at {self.endpoint.address} gave an unexpected answer to {what} ({why})")

    def _too_slow(self, what: str, why: str) -> EngineTimeoutError:
        return EngineTimeoutError(
            f"the engine at {self.endpoint.address} did not complete {what} ({why})",
            remedy=(f"{VARIABLE}={self.timeouts.lost * 5:g} sets a limit five times as long.",),
        )

    def _forbidden(self) -> EngineForbiddenError:
        return EngineForbiddenError(
            f"this user may not use the Docker engine at {self.endpoint.address}",
            remedy=(
                "Join the docker group:  sudo usermod -aG docker $USER     then log in again, or: newgrp docker",
                "Or use a rootless engine of your own: set DOCKER_HOST to its socket.",
            ),
        )

    def _no_answer(self, reason: str) -> EngineLostError | EngineUnreachableError:
        if self._greeting:
            return EngineLostError(f"the Docker engine at {self.endpoint.address} stopped answering ({reason})")
        return EngineUnreachableError(
            f"no Docker engine answers at {self.endpoint.address}{self._context()}",
            details=(reason,),
            remedy=tuple(self._remedy()),
        )

    def _context(self) -> str:
        name = self.endpoint.name
        return f', the address of the Docker context "{name}"' if name not in {"", self.endpoint.address} else ""

    def _remedy(self) -> Iterator[str]:
        name, command = self.endpoint.name, self.endpoint.command
        if self.place is not None:
            from smlocal.engine.place import without_engine  # for few users

            yield from without_engine(self.place)
            return
        if command:
            yield f"Does this work?  {join(command)}     It must not ask for a password."
        elif name:
            yield f"Does this work?  {join(self.endpoint.docker_command)} version"
        if name:
            yield "To run the job without this engine, leave it out of Local.Engines, or of --engine."
        elif not command:
            yield "Is it running?  sudo systemctl start docker"
            yield "Another engine?  docker context ls, or set DOCKER_HOST"
            yield "smlocal doctor checks everything this machine needs."


def _message(body: bytes, status: int) -> str:
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    message = document.get("message") if isinstance(document, dict) else body.decode(errors="replace")
    return str(message or "").strip() or f"the engine answered with status {status}"
