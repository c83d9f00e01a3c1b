"""A job of the service that is looked at until it has ended."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol

from smlocal.errors import ServiceUnreachableError
from smlocal.service.service import Service

ENDED: Final = frozenset({"Completed", "Failed", "Stopped"})
_STEP: Final = 0.05
_LOST_SECONDS: Final = 600.0
"""So long may the service not answer."""


class Viewer(Protocol):
    """The viewer of a job that is followed."""

    def phase_began(self, phase: str) -> None:
        """A phase, by the service's name."""

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """The phase is over."""

    def lines(self, host: str, data: bytes) -> None:
        """A host has written complete lines."""

    def progress(self, text: str) -> None:
        """Something is over, such as a training job of a search."""

    def working(self, text: str) -> None:
        """The state of something slow."""

    def warning(self, text: str) -> None:
        """Something that does not end the job."""


class Following(ABC):
    """One job; `follow` may be called again after it was interrupted."""

    def __init__(self, service: Service, name: str, viewer: Viewer, *, pause: float) -> None:
        """`pause`: the seconds between two looks."""
        self._service, self._name, self._viewer, self._pause = service, name, viewer, pause
        self._lost_since: float | None = None

    @abstractmethod
    def _look(self) -> dict[str, Any] | None:
        """Show what is new; the answer of describe if the job has ended."""

    def follow(self, interrupted: Callable[[], bool]) -> dict[str, Any] | None:
        """Show the job until it has ended; returns the last answer of describe, or None if interrupted."""
        while not interrupted():
            try:
                answer = self._look()
                self._lost_since = None
                if answer is not None:
                    return answer
            except ServiceUnreachableError as error:
                self._wait_for_service(error)
            self._sleep(interrupted)
        return None

    def _wait_for_service(self, error: ServiceUnreachableError) -> None:
        now = time.monotonic()
        if self._lost_since is None:
            self._lost_since = now
            self._viewer.warning(f"{error.sentence}: trying again")
        elif now - self._lost_since > _LOST_SECONDS:
            raise error

    def _sleep(self, interrupted: Callable[[], bool]) -> None:
        until = time.monotonic() + self._pause
        while time.monotonic() < until and not interrupted():
            time.sleep(_STEP)
