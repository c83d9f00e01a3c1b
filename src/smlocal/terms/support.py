"""How smlocal treats a member of a request."""

from enum import StrEnum


class Support(StrEnum):
    """How a member is handled."""

    EMULATED = "emulated"
    """It has the same effect as on the service."""
    RECORDED = "recorded"
    """It is stored and echoed, and has no effect."""
    REFUSED = "refused"
    """A job with it is not run."""
