"""The views of a job, in the words of its platform: while it runs, and as it is or was."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Written
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.terms.statuses import JobStatus, StopCause


class Reporter:
    """Shows nothing; subclasses do. Called from the supervising thread, `output` from threads that read containers."""

    verbose = False
    """True if a job that did not fail has to tell how docker would start it, too."""

    def planned(self, plan: RecordedPlan) -> None:
        """The job has been created."""

    def import_the_rest(self) -> None:
        """Import modules needed at the end, while the containers start."""

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

    def step_changed(self, step: str, status: str, seconds: float | None, detail: str) -> None:
        """A step of a pipeline has begun, without `seconds`, or has ended."""

    def rule_changed(self, rule: str, status: str, detail: str, *, good: bool) -> None:
        """A debugger rule has a new status. Called from the thread that watches rules."""

    def warning(self, text: str) -> None:
        """Something that does not end the job but that a user wants to know."""


Rows = tuple[tuple[str, str], ...]
"""Heads, and the texts beside them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StartView:
    """The view of a job when it starts."""

    about: str
    """The image and the hosts, in one line."""
    members: Mapping[str, Any]
    """The same for programs."""
    phases: Mapping[str, str]
    """The platform's words for phases that have another name there."""
    causes: Mapping[StopCause, str]
    """Why a job is being stopped."""
    longest_step: int = 0
    """Of a pipeline, the characters of the longest name of a step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputFolder:
    """A folder of this machine with what a job has written."""

    name: str
    folder: str
    location: str
    """That the folder stands for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A phase that the job was in, or is in. Times are seconds since 1970."""

    name: str
    message: str
    began: float
    ended: float | None
    final: bool
    """True if it is how the job has ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Something that lasted, such as a container. Times are seconds since 1970."""

    began: float
    ended: float | None
    text: str
    good: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A row of spans beside the phases of a job."""

    name: str
    spans: tuple[Span, ...]
    short: bool = False
    """True if only the name fits beside the bar; its text is then a tooltip."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobView:
    """A job that has ended or not."""

    name: str
    status: JobStatus
    state: str
    """In the platform's words, as all others here."""
    why: str
    """More about the state, if there is more; else empty."""
    reason: str
    """Why it failed or was stopped, as far as the platform says it; else empty."""
    created: float
    began: float
    """The start of the training, else the creation."""
    seconds: float
    """From its creation to its last change."""
    stages: tuple[Stage, ...]
    members: Mapping[str, Any]
    """How it ended, for programs: members of the answer."""
    answer: Mapping[str, Any]
    """The answer, with the `Local` block."""
    notes: Rows = ()
    """About the reason."""
    shell: bool = True
    """True if `smlocal shell` can make a container as it was before the job."""
    outputs: tuple[OutputFolder, ...] = ()
    details: Rows = ()
    """More about the job."""
    results: Rows = ()
    """What came of it, for its last lines."""
    bars: tuple[Bar, ...] = ()
    history: tuple[tuple[float, str], ...] = ()
    """The events of its containers, and their times."""
    leads_to: tuple[str, ...] = ()
    """Next commands of smlocal, such as for the job's model."""
    log_of: str | None = ""
    """The job whose log explains the failure, if it is another job; None if no log does."""
    unexpected: Rows = ()
    """Surprises of a job that went well: it left nothing, or it wrote why it failed."""

    @property
    def local(self) -> Mapping[str, Any]:
        """The facts that only this machine knows."""
        block: Mapping[str, Any] = self.answer["Local"]
        return block

    @property
    def message(self) -> str:
        """About the last phase; empty if there is none."""
        return self.stages[-1].message if self.stages else ""

    @property
    def ended_as(self) -> str:
        """The state, with more about it."""
        return f"{self.state} ({self.why})" if self.why else self.state
