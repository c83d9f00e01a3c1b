"""What a JUnit file says: one case for each job or rule."""

from enum import StrEnum

from smlocal.quick_dataclass import dataclass


class Verdict(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One job, or one rule that an image was checked by."""

    name: str
    group: str
    """What readers sort by: `classname`."""
    seconds: float
    verdict: Verdict
    kind: str = ""
    """Of a failure, such as `Failed` or `Stopped`."""
    message: str = ""
    """Of a failure or a skip, in one line."""
    text: str = ""
    """The whole of it."""
    output: str = ""
    """What was written meanwhile."""
    file: str = ""
    """Of the repository."""
    line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Cases that belong together."""

    name: str
    cases: tuple[Case, ...]
    began: float | None = None
    """Epoch seconds."""

    def count(self, verdict: Verdict) -> int:
        """How many cases ended so."""
        return sum(case.verdict is verdict for case in self.cases)
