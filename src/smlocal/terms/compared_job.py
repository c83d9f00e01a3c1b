"""The members by which a job of another platform is compared."""

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
    """The word for it in sentences."""
    state_member: str
    """The platform's name for the state, in its answer."""
    name: str
    request: Mapping[str, Any]
    """Without its name, and with the defaults of members that are left out."""
    end: ComparedEnd | None
    """None of a request."""
