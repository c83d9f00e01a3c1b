"""What a job of another platform is compared by."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedEnd:
    """The end of a job, in the words of its platform."""

    state: str
    ended: bool
    reason: str | None
    reason_member: str
    running: tuple[str, float] | None
    """The state in which the replicas ran, and for how many seconds."""
    replicas: Mapping[str, Any] | None
    """The exit code of each replica that ended by itself, how many attempts there were, and how many restarts of
    replicas; None if only the service would know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedJob:
    """A job, or the request of one."""

    kind: str
    """What sentences call it."""
    state_member: str
    """What its platform calls the state, in its answer."""
    name: str
    request: Mapping[str, Any]
    """Without its name, and with what is meant when it is left out."""
    end: ComparedEnd | None
    """None of a request."""
