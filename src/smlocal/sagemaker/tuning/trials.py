"""The training jobs of a search, as it remembers them. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Final, Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.ranges import Point, Range

Direction = Literal["Maximize", "Minimize"]
ENDED: Final = frozenset({"Completed", "Failed", "Stopped"})
_DOCUMENT: Final = "trial-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Objective:
    """What a search looks for."""

    metric: str
    direction: Direction

    def better(self, one: float, other: float) -> bool:
        """True if `one` is better than `other`."""
        return one > other if self.direction == "Maximize" else one < other

    def cost(self, value: float) -> float:
        """A number that is lower if the value is better."""
        return -value if self.direction == "Maximize" else value

    def improves(self, one: float, other: float) -> bool:
        """True if `one` is better by more than the part that counts."""
        return self.better(one, other) and abs(one - other) > abs(other) * facts.NOT_ENOUGH


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchDefinition:
    """One training job definition of a search."""

    objective: Objective
    ranges: tuple[Range, ...]
    earlier: tuple[tuple[Point, float], ...] = ()
    """Points of parents of a warm start, with their results."""
    taken: tuple[Point, ...] = ()
    """Those of them that are not tried again."""


@dataclass(kw_only=True, slots=True)
class Trial:
    """One training job of a search."""

    number: int
    """From 1."""
    name: str
    definition: int = 0
    """The index of its definition."""
    tuned: Point = field(default_factory=dict)
    bracket: int = 0
    """Of Hyperband."""
    status: str = "InProgress"
    value: float | None = None
    """The final value of its objective metric, if it has one."""
    reason: str | None = None
    retryable: bool = False
    """True if it failed by no fault of its program."""
    early: bool = False
    """True if the search has stopped it, because others are better."""
    created: float | None = None
    started: float | None = None
    ended: float | None = None
    arn: str = ""

    @property
    def over(self) -> bool:
        """True once its job has ended."""
        return self.status in ENDED

    @property
    def objective_status(self) -> str:
        """ObjectiveStatus."""
        if not self.over:
            return "Pending"
        return "Succeeded" if self.value is not None and self.status != "Failed" else "Failed"

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return asdict(self)


def trial_of(document: Mapping[str, Any]) -> Trial:
    """From the stored document."""
    return Trial(**document)


def document_kind(number: int) -> str:
    """The kind of the document of a trial."""
    return f"{_DOCUMENT}{number}"
