"""How large a job file may be, and the error for a larger one."""

from collections.abc import Sequence
from typing import Final

from smlocal.contract.json_size import MOST_PARTS
from smlocal.errors import JobFileSyntaxError

MOST_LEVELS: Final = 50
MOST_TEXT: Final = 10 << 20
"""Characters of all keys and strings, also those that aliases repeat: as many as a file may have bytes."""
ALIAS: Final = "Look for an alias (*name) that repeats or contains itself."
NO_JOB: Final = "Is this a job file? No request is so large."
_LONGEST_KEY: Final = 80


def too_large_for_a_request(
    name: str, *, deep: bool, details: Sequence[str], remedy: str = NO_JOB
) -> JobFileSyntaxError:
    """The error for a document with too many parts, or too many levels."""
    what = f"more than {MOST_LEVELS} levels deep" if deep else f"more than {MOST_PARTS:,} parts"
    return JobFileSyntaxError(f"{name} is too large for a request: {what}", details=details, remedy=[remedy])


def shown_key(key: str) -> str:
    """A key in a message: it may be as long as the file."""
    return key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}…"
