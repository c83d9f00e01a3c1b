"""One error in a request."""

from smlocal.contract.validation.member_path import Path
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Where the error is, and its text."""

    path: Path
    text: str
    """One line for the terminal."""
    service: str | None = None
    """The service's sentence, if it has one."""
