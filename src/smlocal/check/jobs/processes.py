"""The processes of a job's container, and whether they have a handler for SIGTERM."""

import time
from collections.abc import Callable, Sequence

from smlocal.check.jobs.interface import Process, handles_sigterm
from smlocal.engine.interface import Engine, ResourceKind
from smlocal.errors import EngineError

_POLL_SECONDS = 0.1


def container_of(engine: Engine, job: str) -> str:
    """The id of the container of the first host; empty where there is none now."""
    found = [
        each
        for each in engine.owned(job)
        if each.kind is ResourceKind.CONTAINER and each.labels.get("smlocal.host") == "algo-1"
    ]
    return found[0].id if found else ""


def processes(engine: Engine, container: str) -> tuple[Process, ...]:
    """PID 1 comes first; none of a container that does not run, and where the engine cannot tell."""
    try:
        found = engine.processes(container)
    except EngineError:
        return ()
    return tuple(Process(name=each.name, handles_sigterm=handles_sigterm(each.caught)) for each in found)


def watch_end(
    engine: Engine, container: str, before: Sequence[Process], *, over: Callable[[], bool]
) -> tuple[Process, ...]:
    """Wait until the container has ended. A handler that appears only now is one too."""
    first, *others = before
    while not over() and (now := processes(engine, container)):
        first = now[0] if now[0].handles_sigterm else first
        others = list(now[1:]) if len(now) > len(others) else others
        time.sleep(_POLL_SECONDS)
    return first, *others
