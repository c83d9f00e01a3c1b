"""The containers of replicas that an earlier supervisor has left, by host."""

from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from smlocal.engine.engines import Engines
from smlocal.engine.interface import ContainerState
from smlocal.job.containers import HOST_LABEL, owned_by
from smlocal.planning.model import JobPlan
from smlocal.platforms.ai_platform.run.labels import NUMBER_LABEL
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.job.control.found_containers import FoundContainers


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundReplica:
    """The container of a replica."""

    id: str
    number: int
    running: bool
    state: ContainerState | None
    """None if it was never started."""

    @property
    def ended_at(self) -> str:
        """A time in the engine's form; the beginning of time if it was never started."""
        return "" if self.state is None else self.state.finished_at

    def got_signal(self, at: float | None) -> bool:
        """True if a signal to the host at this time was for this container."""
        if at is None or self.state is None:
            return False
        return datetime.fromisoformat(self.state.started_at).timestamp() < at


def found_replicas(engines: Engines, plan: JobPlan, started: "FoundContainers") -> dict[str, FoundReplica]:
    """Those on the engines. `started`: what is known of those that have been started."""
    found = {}
    for each in chain.from_iterable(owned_by(engine, plan.name, plan.run_id) for engine in engines):
        if HOST_LABEL in each.labels and NUMBER_LABEL in each.labels:
            host, number = each.labels[HOST_LABEL], int(each.labels[NUMBER_LABEL])
            known = started.hosts.get(host)
            state, running = (None, False) if known is None else (known.state, known.running)
            found[host] = FoundReplica(id=each.id, number=number, running=running, state=state)
    return found
