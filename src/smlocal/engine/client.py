"""Calls to an engine's API, with every way they can fail turned into one of our errors."""

import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from smlocal.engine.call_limit import CallLimit, SlowAnswerError
from smlocal.engine.endpoint import Endpoint
from smlocal.engine.http import Answer, BrokenAnswerError, UnexpectedAnswerError, exchange, query
from smlocal.engine.timeouts import VARIABLE, Call, Timeouts, chosen_timeouts
from smlocal.errors import (
    EngineAnswerError,
    EngineError,
    EngineForbiddenError,
    EngineLostError,
    EngineTimeoutError,
    EngineUnreachableError,
)
from smlocal.planning.facts import Product

NEWEST_API = (1, 47)
"""The newest version of the API whose documents we know; an older engine is spoken to in its own."""
_PAUSE_OF_THE_LOST = 1.0
"""Seconds for which nothing is sent to an engine that has just been silent."""


class Client:
    """One engine's API. Makes a connection for each call, which costs 50 µs and makes it usable from any thread.

    Every call has limits. While an answer is awaited, an engine that is silent is asked on another connection whether
    it is still there; one that is not is lost, and from then on each call begins by asking again, for a moment only.
    """

    def __init__(self, endpoint: Endpoint, *, timeouts: Timeouts | None = None) -> None:
        """Remember where the engine is; nothing is sent yet."""
        self.endpoint = endpoint
        self.timeouts = timeouts or chosen_timeouts()
        self._greeting: dict[str, str] = {}
        self._heard_at = -math.inf
        self._lost_at: float | None = None
        self._lost_why = ""

    def greet(self) -> Mapping[str, str]:
        """Ask whether an engine is there, once, and return the headers it introduces itself with."""
        if not self._greeting:
            with self._translated("GET /_ping"), self._exchange("GET", "/_ping", call=Call.GREETING) as answer:
                body = answer.read()
                if "api-version" not in answer.headers:
                    raise BrokenAnswerError(f"status {answer.status} without an API version: {body[:80]!r}")
                if answer.status != 200:  # noqa: PLR2004  HTTP's OK
                    raise EngineError(_message(body, answer.status), status=answer.status)
                self._greeting = answer.headers
        return self._greeting

    @property
    def product(self) -> Product:
        """Which engine answers; others that speak Docker's API are taken for Docker."""
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
        """Make a call; an error status that is not `fine` raises `EngineError` with the engine's own words.

        `prefix` is that of another API than Docker's. `still` is called now and then while the engine is silent, in
        place of `check`, and raises to end the call.
        """
        fields = dict(headers or {})
        if document is not None:
            data = json.dumps(document).encode()
            fields["Content-Type"] = "application/json"
        target = (prefix or self._prefix()) + path + query(parameters or {})
        self._meet_again()
        with (
            self._translated(f"{method} {path}"),
            self._exchange(method, target, headers=fields, body=data, call=call, still=still) as answer,
        ):
            if answer.status >= 400 and answer.status not in fine:  # noqa: PLR2004  where HTTP's errors begin
                raise EngineError(_message(answer.read(), answer.status), status=answer.status)
            yield answer

    def tell(self, method: str, path: str, *, parameters: Mapping[str, str] | None = None, **more: Any) -> int:
        """Make a call whose answer is its status."""
        with self.ask(method, path, parameters=parameters, **more) as answer:
            answer.read()
            return answer.status

    def read(self, path: str, *, parameters: Mapping[str, str] | None = None, call: Call = Call.QUESTION) -> Any:
        """Get a JSON document."""
        with self.ask("GET", path, parameters=parameters, call=call) as answer:
            return answer.json()

    def post(self, path: str, document: Mapping[str, Any], *, parameters: Mapping[str, str] | None = None) -> Any:
        """Have something made as a JSON document says, and get one back."""
        with self.ask("POST", path, parameters=parameters, document=document, call=Call.ACTION) as answer:
            return answer.json()

    def attach(self, path: str, *, parameters: Mapping[str, str]) -> Answer:
        """Turn a connection into a raw stream without limits, which the caller closes."""
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        target = self._prefix() + path + query(parameters)
        self._meet_again()
        with self._translated(f"POST {path}"):
            answer = self._exchange("POST", target, headers=headers, call=Call.ACTION)
            if answer.status >= 400:  # noqa: PLR2004  as above
                with answer:
                    raise EngineError(_message(answer.read(), answer.status), status=answer.status)
            if answer.status != 101 and "stream" not in answer.headers.get("content-type", ""):  # noqa: PLR2004  HTTP's Switching Protocols
                answer.close()
                raise UnexpectedAnswerError(f"status {answer.status} and no stream")
            answer.unlimit()
            return answer

    def check(self) -> None:
        """Raise `EngineLostError` unless the engine is there; nothing is asked if it has just answered somebody."""
        if time.monotonic() - self._heard_at >= self.timeouts.silence / 2:
            self._ping(self.timeouts.total(Call.GLANCE))

    def _meet_again(self) -> None:
        """An engine that was silent is not trusted with a call before it has answered; many calls wait but once."""
        if self._lost_at is None:
            return
        if time.monotonic() - self._lost_at < _PAUSE_OF_THE_LOST:
            raise self._gone(self._lost_why)
        self._ping(self.timeouts.again)

    def _ping(self, seconds: float) -> None:
        try:
            self._exchange("GET", "/_ping", call=Call.GLANCE, seconds=seconds).close()
        except (BrokenAnswerError, SlowAnswerError) as error:
            raise self._vanished(str(error)) from error
        self._lost_at = None

    def _vanished(self, why: str) -> EngineLostError | EngineUnreachableError:
        """It does not even say no, so that each call to it would take its time."""
        self._lost_at, self._lost_why = time.monotonic(), why
        return self._gone(why)

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
        # Who asks whether the engine is there does not ask so in turn.
        pause = min(timeouts.silence, total) if call not in {Call.GREETING, Call.GLANCE} else total
        limit = CallLimit(pause=pause, total=total, quiet=timeouts.quiet(call), still=still or self.check)
        try:
            connection = self.endpoint.connect(min(timeouts.connect, total))
        except PermissionError as error:
            if self._greeting:
                raise self._gone(str(error.strerror)) from error
            raise self._forbidden() from error
        except TimeoutError as error:
            raise self._vanished(error.strerror or str(error)) from error
        except OSError as error:
            raise self._gone(error.strerror or str(error)) from error
        answer = exchange(connection, method, target, limit=limit, headers=headers, body=body)
        self._heard_at = time.monotonic()
        return answer

    @contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        try:
            yield
        except UnexpectedAnswerError as error:
            if not self._greeting:
                raise self._gone(str(error)) from error
            raise self.unexpected(what, str(error)) from error
        except BrokenAnswerError as error:
            raise self._gone(str(error)) from error
        except SlowAnswerError as error:
            if not self._greeting:
                raise self._gone(str(error)) from error
            raise self._too_slow(what, str(error)) from error

    def unexpected(self, what: str, why: str) -> EngineAnswerError:
        """What to raise for an answer that is not understood."""
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

    def _gone(self, reason: str) -> EngineLostError | EngineUnreachableError:
        if self._greeting:
            return EngineLostError(f"the Docker engine at {self.endpoint.address} stopped answering ({reason})")
        if self.endpoint.command:
            from shlex import join

            return EngineUnreachableError(
                f"no Docker engine answers at {self.endpoint.address}",
                details=(reason,),
                remedy=(f"Does this work?  {join(self.endpoint.command)}     It must not ask for a password.",),
            )
        return EngineUnreachableError(
            f"no Docker engine answers at {self.endpoint.address}",
            details=(reason,),
            remedy=(
                "Is it running?  sudo systemctl start docker",
                "Another engine?  docker context ls, or set DOCKER_HOST",
                "smlocal doctor checks everything this machine needs.",
            ),
        )


def _message(body: bytes, status: int) -> str:
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    message = document.get("message") if isinstance(document, dict) else body.decode(errors="replace")
    return str(message or "").strip() or f"the engine answered with status {status}"
