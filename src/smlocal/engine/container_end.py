"""Waits for the end of a container, which is noticed also if the engine's answer does not arrive."""

import time
from collections.abc import Callable
from typing import Final

from smlocal.engine import podman
from smlocal.engine.client import Client
from smlocal.engine.documents import container_state
from smlocal.engine.interface import ContainerState
from smlocal.engine.timeouts import Call
from smlocal.errors import EngineError, EngineLostError

_LOOK_SECONDS = 0.05
"""Pause between two inspections of a Podman container that is about to start."""
_ENDED: Final = {"exited", "dead"}


class _EndedError(Exception):
    """A container has ended, and the engine's answer has not arrived."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def wait_for_end(client: Client, container: str, state: Callable[[str], ContainerState]) -> int:
    """Return the exit code; may be called before or after the start. `state` inspects a container."""
    try:
        return _wait(client, container, state)
    except _EndedError as ended:
        return ended.exit_code


def _wait(client: Client, container: str, inspect: Callable[[str], ContainerState]) -> int:
    """To the engine, a container that was not started yet has ended, so `next-exit` is used.

    The container is inspected again after the request, because it may have ended just before. If the start fails, the
    wait ends when the container is removed.
    """

    def still() -> None:
        _still_runs(client, container)

    state = inspect(container)
    if client.product == "podman":
        while state.status == "created":
            time.sleep(_LOOK_SECONDS)
            state = inspect(container)
        return podman.wait(client, container, still)
    fresh = state.status == "created"
    parameters = {"condition": "next-exit" if fresh else "not-running"}
    path = f"/containers/{container}/wait"
    with client.ask("POST", path, parameters=parameters, call=Call.WAIT, still=still) as answer:
        if fresh and (state := inspect(container)).status in _ENDED:
            return state.exit_code
        document = answer.json() or {}
    trouble = (document.get("Error") or {}).get("Message")
    if trouble:
        raise EngineError(trouble)
    return int(document["StatusCode"])


def _still_runs(client: Client, container: str) -> None:
    """Raise if the engine is lost, or if the container has ended and the answer was lost with its connection."""
    try:
        state = container_state(client.read(f"/containers/{container}/json", call=Call.GLANCE))
    except EngineLostError:
        # The engine may be slow with one container, for example while a large file is copied out of it.
        client.check()
    else:
        if state.status in _ENDED:
            raise _EndedError(state.exit_code)
