"""What the job tells whoever watches; the faces decide how it looks."""

from typing import Protocol

from smlocal.contract.outcome.statuses import StopCause
from smlocal.engine.interface import Written
from smlocal.planning.model import JobPlan


class Reporter(Protocol):
    """Receives progress. Called from the supervising thread, `output` also from the threads that read containers."""

    def planned(self, plan: JobPlan) -> None:
        """The job exists from now on."""

    def progress(self, text: str) -> None:
        """A short line about something that takes time."""

    def working(self, text: str) -> None:
        """How far something slow has come; called several times a second, and the last word replaces the one before."""

    def entered(self, phase: str) -> None:
        """A phase begins, by the service's name."""

    def left(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """A phase has ended."""

    def output(self, host: str, written: Written) -> None:
        """A host has written something."""

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """SIGTERM is on its way; SIGKILL follows after `grace` seconds. None: there is no container to be stopped."""

    def warning(self, text: str) -> None:
        """Something that does not end the job but that a user wants to know."""


class Silent:
    """A reporter for those who only want the result."""

    def planned(self, plan: JobPlan) -> None:
        """Say nothing."""

    def progress(self, text: str) -> None:
        """Say nothing."""

    def working(self, text: str) -> None:
        """Say nothing."""

    def entered(self, phase: str) -> None:
        """Say nothing."""

    def left(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """Say nothing."""

    def output(self, host: str, written: Written) -> None:
        """Say nothing."""

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """Say nothing."""

    def warning(self, text: str) -> None:
        """Say nothing."""
