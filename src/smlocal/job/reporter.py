"""What a job reports while it runs; `api` and `cli` decide how it is shown."""

from smlocal.contract.statuses import StopCause
from smlocal.engine.interface import Written
from smlocal.planning.model import JobPlan


class Reporter:
    """Shows nothing; subclasses do. Called from the supervising thread, `output` from threads that read containers."""

    verbose = False
    """True if a job that did not fail has to tell how docker would start it, too."""

    def planned(self, plan: JobPlan) -> None:
        """The job has been created."""

    def progress(self, text: str) -> None:
        """A short line about something slow."""

    def working(self, text: str) -> None:
        """The state of something slow; called several times a second, each text replaces the one before."""

    def phase_began(self, phase: str) -> None:
        """A phase, by the service's name."""

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """The phase is over."""

    def output(self, host: str, written: Written) -> None:
        """A host has written something."""

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """SIGTERM is being sent, and SIGKILL `grace` seconds later. None: no container is running."""

    def replica_changed(self, replica: str | None, happened: str, follows: str, exit_code: int | None) -> None:
        """Something has happened to a replica, or to the job; `follows` is empty if nothing does before its end."""

    def rule_changed(self, rule: str, status: str, detail: str, *, good: bool) -> None:
        """A debugger rule has a new status. Called from the thread that watches rules."""

    def warning(self, text: str) -> None:
        """Something that does not end the job but that a user wants to know."""
