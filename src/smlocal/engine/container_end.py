"""Waits for the end of a container, and finds out whether it ran out of memory.

The end is noticed even if the engine's answer does not arrive.
"""

import json
import os
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


_KILLED = 137
_DELAY = 1.0
"""Seconds: how late the event may be; at most half a second was measured in hundreds of cases on a busy machine."""


def ran_out_of_memory(client: Client, container: str, state: ContainerState, *, killed_by_us: bool) -> bool:
    """Ask for Docker's events until the end of the container; after a SIGKILL that is not ours, a little longer.

    Docker learns of the end and of its cause separately. If it learns of the end first, as on a busy machine, the
    container's state never says that memory ran out, but the events do.
    """
    late = _DELAY if state.exit_code == _KILLED and not killed_by_us else 0.0
    from datetime import datetime  # not for jobs that succeed

    until = datetime.fromisoformat(state.finished_at).timestamp() + late
    parameters = {
        "since": "1",  # Docker may report the start of a short container after its end
        "until": f"{until:.6f}",  # by the engine's own clock
        "filters": json.dumps({"container": [container], "event": ["oom"]}),
    }
    try:
        with client.ask("GET", "/events", parameters=parameters) as answer:
            return any(answer.lines())
    except EngineError:  # some proxies allow only certain calls
        return False


_LOG = "/dev/kmsg"
_LONGEST = 1 << 14
"""The maximum size of a record; a read with a smaller buffer fails."""
_MOST = 1 << 20
"""The maximum number of records that are read; kernels keep some thousands."""
_GROUPS = (b"oom_memcg=", b"task_memcg=")
"""The container whose memory ran out, and that of the killed process. Other fields may name other containers."""


def killed_for_memory(container: str) -> bool:
    """True if the kernel's log, which not every user may read, has a kill in this container because memory ran out.

    The kernel logs it before the container ends, but not more than ten such kills in five seconds. Engines learn of it
    separately from the end, and sometimes not at all.
    """
    try:
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # on most machines only root may read it
        return False
    try:
        for _ in range(_MOST):
            try:
                record = os.read(log, _LONGEST)
            except BrokenPipeError:  # overwritten in the meantime: the next read continues with the present content
                continue
            if is_kill_in(record, container):
                return True
    except OSError:  # no more records
        pass
    finally:
        os.close(log)
    return False


def is_kill_in(record: bytes, container: str) -> bool:
    """True if the record is about a kill in this container."""
    _, _, kill = record.partition(b";oom-kill:")
    return any(field.startswith(_GROUPS) and container.encode() in field for field in kill.split(b","))
