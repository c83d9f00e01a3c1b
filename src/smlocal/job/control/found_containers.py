"""What the engine still has of a job whose supervisor is gone: found out before anything is decided about the job."""

import time
from collections.abc import Mapping
from datetime import datetime

from smlocal.engine.interface import ContainerState, Engine, ResourceKind
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.host.host_run import HOST_LABEL
from smlocal.job.labels import owned_by
from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass

_TRIES, _PAUSE_SECONDS = 10, 1.0
"""An engine that does not answer well is often only busy, or restarting."""
_ABSENT = 404
_RUNNING = {"running", "paused", "restarting"}
_RAN = {*_RUNNING, "exited", "dead"}
_NEVER = "0002"
"""Timestamps before this are an engine's way to say that something has not happened."""
_ENGINE_STARTS_SECONDS = 15.0
"""An engine that starts gives what it finds running ten seconds after SIGTERM."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundHost:
    """A container that has run, or still does."""

    container: str
    state: ContainerState

    @property
    def running(self) -> bool:
        """True while its end is still to come."""
        return self.state.status in _RUNNING


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The containers that have run, by host, and when the engine itself was started (empty: it does not say)."""

    hosts: Mapping[str, FoundHost]
    engine_began: str

    @property
    def ended_at(self) -> float | None:
        """When the last container ended, by the engine's clock; None while one runs, and when there are none."""
        if not self.hosts or any(host.running for host in self.hosts.values()):
            return None
        return max(datetime.fromisoformat(host.state.finished_at).timestamp() for host in self.hosts.values())

    @property
    def ended_with_the_engine(self) -> bool:
        """True when a container's failure is the engine's doing.

        One that restarts sends SIGTERM and then SIGKILL to what it finds running; after a power cut it calls everything
        ended. So whatever failed just before the engine's start is not held against the algorithm.
        """
        if not self.engine_began:
            return False
        start = datetime.fromisoformat(self.engine_began)
        return any(
            not host.running
            and host.state.exit_code != 0
            and datetime.fromisoformat(host.state.started_at) < start
            and abs((datetime.fromisoformat(host.state.finished_at) - start).total_seconds()) < _ENGINE_STARTS_SECONDS
            for host in self.hosts.values()
        )


def find(engine: Engine, plan: JobPlan) -> Found:
    """Ask the engine, several times if need be; raises what it said last.

    A container is gone only if the engine says so: an error is no answer.
    """
    for left in reversed(range(_TRIES)):
        try:
            return Found(hosts=_hosts(engine, plan), engine_began=engine.began())
        except (EngineError, MachineNotReadyError):
            if not left:
                raise
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError


def _hosts(engine: Engine, plan: JobPlan) -> dict[str, FoundHost]:
    found = {}
    for resource in owned_by(engine, plan.name, plan.run_id):
        host = resource.labels.get(HOST_LABEL)
        if resource.kind is ResourceKind.CONTAINER and host is not None:
            try:
                state = engine.state(resource.id)
            except EngineError as error:
                if error.status != _ABSENT:
                    raise
                continue  # removed since it was listed
            if state.status in _RAN and state.started_at > _NEVER:
                found[host] = FoundHost(container=resource.id, state=state)
    return found
