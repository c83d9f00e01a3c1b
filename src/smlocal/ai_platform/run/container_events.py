"""Events of a job's containers in the words of the lifecycle, and the lines that smlocal itself writes into logs."""

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import chain
from typing import Final

from smlocal.ai_platform.lifecycle import events
from smlocal.ai_platform.locations import mounted_path
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines
from smlocal.engine.interface import ContainerState, Engine, Written
from smlocal.errors import EngineError, EngineLostError, EngineUnreachableError, MachineNotReadyError
from smlocal.jobs.containers import HOST_LABEL, FoundContainers, owned_by
from smlocal.jobs.decide import events as job_events
from smlocal.jobs.decide.events import ContainerExited, ContainerLost, ThreadDied
from smlocal.jobs.logs.log_file import LogFile
from smlocal.jobs.planning.model import JobPlan

_NOT_FOUND = 404
_SIMULATED = "simulated by Local.Faults"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaContainer:
    """The newest container of a replica."""

    replica: str
    """As the service calls it."""
    number: int
    id: str


def of_host(event: ContainerExited | ContainerLost, container: ReplicaContainer, engine: Engine) -> events.Event:
    """The end of a container."""
    if isinstance(event, ContainerExited):
        return events.ReplicaExited(
            replica=container.replica,
            number=container.number,
            exit_code=event.exit_code,
            oom_killed=event.oom_killed,
        )
    if _is_gone(engine, container.id):
        return events.ReplicaLost(replica=container.replica, number=container.number, why="its container was removed")
    return events.InternalError(why=event.why, replica=container.replica)


def of_thread(event: ThreadDied, replica: str | None) -> events.Event:
    """A defect of smlocal."""
    return events.InternalError(why=event.why, replica=replica)


def of_start(error: Exception, replica: str, number: int) -> events.Event:
    """A container could not be started. An error of the runtime is the image's fault, any other one the machine's."""
    if isinstance(error, EngineError) and error.is_of_runtime:
        return events.StartRefused(replica=replica, number=number, why=error.sentence)
    sentence = error.sentence if isinstance(error, EngineError | MachineNotReadyError) else str(error)
    return events.InternalError(why=f"a container could not be started: {sentence}", replica=replica)


def of_request(event: job_events.Event) -> events.Event | None:
    """A user's request about the job, or a simulated fault; None for events that this platform does not know."""
    match event:
        case job_events.StopAsked(grace=grace):
            return events.CancelAsked(grace=grace)
        case job_events.KillAsked():
            return events.CancelAskedAgain()
        case job_events.PlatformFailed():
            return events.InternalError(why=_SIMULATED)
        case _:
            return None


def is_lost(error: Exception) -> bool:
    """True if the engine does not answer any more."""
    return isinstance(error, EngineLostError | EngineUnreachableError)


def _is_gone(engine: Engine, container: str) -> bool:
    try:
        engine.state(container)
    except EngineError as error:
        return error.status == _NOT_FOUND
    except MachineNotReadyError:
        return False
    return False


NUMBER_LABEL: Final = "smlocal.number"
"""The number of a container among all containers of its replica."""


# The containers of replicas that an earlier supervisor has left, by host.


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
    """Those on the engines. `started`: the known facts of those that have been started."""
    found = {}
    for each in chain.from_iterable(owned_by(engine, plan.name, plan.run_id) for engine in engines):
        if HOST_LABEL in each.labels and NUMBER_LABEL in each.labels:
            host, number = each.labels[HOST_LABEL], int(each.labels[NUMBER_LABEL])
            known = started.hosts.get(host)
            state, running = (None, False) if known is None else (known.state, known.running)
            found[host] = FoundReplica(id=each.id, number=number, running=running, state=state)
    return found


_FOUR_HOURS: Final = 4 * 3600


def checkpoint_advice(
    buckets: Mapping[str, str], environment: Mapping[str, str], *, began: float, ended: float
) -> str | None:
    """For a job that ran for more than four hours and wrote nothing where checkpoints belong; None for others.

    They belong in AIP_CHECKPOINT_DIR. A job without it may save them in any of its buckets, which are folders here.
    """
    if ended - began <= _FOUR_HOURS:
        return None
    location = environment.get("AIP_CHECKPOINT_DIR")
    folders = list(buckets.values()) if location is None else [_folder_of(location, buckets)]
    if any(
        _is_newer(os.path.join(top, name), began)
        for each in folders
        for top, _, names in os.walk(each)
        for name in names
    ):
        return None
    where = location or "a bucket"
    return (
        f"it ran for more than 4 hours and wrote nothing to {where}; on the service a job should save a checkpoint at"
        " least every 4 hours, because its replicas are restarted"
    )


def _folder_of(location: str, buckets: Mapping[str, str]) -> str:
    """The folder of this machine that a location is, in the innermost bucket folder that has it."""
    path = mounted_path(location)
    around = max((each for each in buckets if path.startswith(f"{mounted_path(each)}/")), key=len)
    return os.path.join(buckets[around], path.removeprefix(f"{mounted_path(around)}/"))


def _is_newer(path: str, began: float) -> bool:
    try:
        return os.lstat(path).st_mtime >= began
    except OSError:  # removed meanwhile
        return False


def mark_log(path: str, text: str, show: Callable[[Written], None]) -> None:
    """Write the line, and show it as output of the replica.

    If the log ends with it, an earlier supervisor was killed before the container wrote anything.
    """
    line = f"smlocal: {text}\n".encode()
    end = _end(path, len(line))
    if end == line:
        return
    if end and not end.endswith(b"\n"):
        line = b"\n" + line
    log = LogFile(path)
    try:
        log.write(line, time.time())
    finally:
        log.close()
    show(Written(line, [(1, line)]))


def _end(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - size))
            return log.read()
    except OSError:
        return b""
