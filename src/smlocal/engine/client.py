"""Calls to an engine's API, with every way they can fail turned into one of our errors."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from smlocal.engine.endpoint import Endpoint
from smlocal.engine.http import Answer, BrokenAnswerError, exchange, query
from smlocal.errors import EngineError, EngineForbiddenError, EngineLostError, EngineUnreachableError
from smlocal.plan.facts import Product

NEWEST_API = (1, 47)
"""The newest version of the API whose documents we know; an older engine is spoken to in its own."""
PATIENCE_SECONDS = 30.0
"""For the first answer of an engine only. What comes later may rightly take as long as it takes."""


class Client:
    """One engine's API. Makes a connection for each call, which costs 50 µs and makes it usable from any thread."""

    def __init__(self, endpoint: Endpoint, *, patience: float = PATIENCE_SECONDS) -> None:
        """Remember where the engine is; nothing is sent yet."""
        self.endpoint = endpoint
        self._patience = patience
        self._greeting: dict[str, str] = {}

    def greet(self) -> Mapping[str, str]:
        """Ask whether an engine is there, once, and return the headers it introduces itself with."""
        if not self._greeting:
            with self._translated(), self._exchange("GET", "/_ping", patience=self._patience) as answer:
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
    ) -> Iterator[Answer]:
        """Make a call; an error status that is not `fine` raises `EngineError` with the engine's own words.

        `prefix` is that of another API than Docker's.
        """
        fields = dict(headers or {})
        if document is not None:
            data = json.dumps(document).encode()
            fields["Content-Type"] = "application/json"
        target = (prefix or self._prefix()) + path + query(parameters or {})
        with self._translated(), self._exchange(method, target, headers=fields, body=data) as answer:
            if answer.status >= 400 and answer.status not in fine:  # noqa: PLR2004  where HTTP's errors begin
                raise EngineError(_message(answer.read(), answer.status), status=answer.status)
            yield answer

    def tell(self, method: str, path: str, *, parameters: Mapping[str, str] | None = None, **more: Any) -> int:
        """Make a call whose answer is its status."""
        with self.ask(method, path, parameters=parameters, **more) as answer:
            answer.read()
            return answer.status

    def read(self, path: str, *, parameters: Mapping[str, str] | None = None) -> Any:
        """Get a JSON document."""
        with self.ask("GET", path, parameters=parameters) as answer:
            return answer.json()

    def post(self, path: str, document: Mapping[str, Any], *, parameters: Mapping[str, str] | None = None) -> Any:
        """Send a JSON document and get one back."""
        with self.ask("POST", path, parameters=parameters, document=document) as answer:
            return answer.json()

    def attach(self, path: str, *, parameters: Mapping[str, str]) -> Answer:
        """Turn a connection into a raw stream, which the caller closes."""
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        with self._translated():
            answer = self._exchange("POST", self._prefix() + path + query(parameters), headers=headers)
            if answer.status >= 400:  # noqa: PLR2004  as above
                with answer:
                    raise EngineError(_message(answer.read(), answer.status), status=answer.status)
            return answer

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
        headers: Mapping[str, str] | None = None,
        body: bytes | Iterable[bytes] | None = None,
        patience: float | None = None,
    ) -> Answer:
        try:
            connection = self.endpoint.connect()
        except PermissionError as error:
            raise self._forbidden() from error
        except OSError as error:
            raise self._gone(error.strerror or str(error)) from error
        connection.settimeout(patience)
        return exchange(connection, method, target, headers=headers, body=body)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except BrokenAnswerError as error:
            raise self._gone(str(error)) from error

    def _forbidden(self) -> EngineForbiddenError:
        return EngineForbiddenError(
            f"this user may not use the Docker engine at {self.endpoint.address}",
            remedy=(
                "Join the group that may:  sudo usermod -aG docker $USER     then log in again, or: newgrp docker",
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
                remedy=(f"Does this work?  {join(self.endpoint.command)}     It must ask for no password.",),
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
