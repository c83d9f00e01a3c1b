"""What the screens show of a job, in the words of its platform."""

from collections.abc import Mapping
from typing import Any

from smlocal.contract.statuses import JobStatus, StopCause
from smlocal.quick_dataclass import dataclass

Rows = tuple[tuple[str, str], ...]
"""Heads, and the texts beside them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What is shown when a job starts."""

    about: str
    """What runs where, in one line."""
    members: Mapping[str, Any]
    """The same for programs."""
    phases: Mapping[str, str]
    """The platform's words for phases that have another name there."""
    causes: Mapping[StopCause, str]
    """Why a job is being stopped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
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
    outputs: tuple[Output, ...] = ()
    details: Rows = ()
    """More about the job."""
    bars: tuple[Bar, ...] = ()
    history: tuple[tuple[float, str], ...] = ()
    """What happened to its containers, and when."""
    unexpected: Rows = ()
    """What one would not expect of a job that went well: it left nothing, or it wrote why it failed."""

    @property
    def local(self) -> Mapping[str, Any]:
        """What only this machine knows."""
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
