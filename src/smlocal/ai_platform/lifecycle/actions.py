"""Actions that the lifecycle asks for."""

from collections.abc import Mapping

from smlocal.ai_platform.lifecycle.entries import HistoryEntry
from smlocal.ai_platform.lifecycle.job_states import JobState
from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """Write this into the history, before what follows is done."""

    entry: HistoryEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class EnterState:
    """The job is in this state from now on."""

    state: JobState


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Start a container of each replica, all at the same time; `numbers` are those of the containers."""

    numbers: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Restart:
    """Start a new container of one replica, with the host name, address and mounts of the last."""

    replica: str
    number: int
    other_machine: bool = False
    """True: nothing that the replica has written on its own disk is left."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Send SIGTERM to PID 1 of these replicas."""

    replicas: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kill:
    """Send SIGKILL to these replicas."""

    replicas: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachError:
    """The job has this error from now on."""

    code: int
    """A code of `google.rpc.Code`."""
    message: str


Action = Record | EnterState | Start | Restart | Terminate | Kill | AttachError
