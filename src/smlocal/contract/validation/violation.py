"""One thing that is wrong with a request."""

from smlocal.contract.validation.member_path import Path
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Where, and what: on a screen, and in the service's answer."""

    path: Path
    text: str
    """One line for a screen."""
    service: str | None = None
    """The service's sentence, where it has one."""
