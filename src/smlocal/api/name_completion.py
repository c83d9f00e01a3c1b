"""What a shell may complete the name of a job to. It imports little, because a person waits for it."""

from smlocal.errors import SmlocalError
from smlocal.store.home import home_directory
from smlocal.store.name_search import stored_names

LAST = "@last"
"""Instead of a name: the newest job."""


def completed_names(begun: str) -> list[str]:
    """Names that begin so, newest first. A shell shows no errors, so there are none."""
    if begun and LAST.startswith(begun):
        return [LAST]
    try:
        return stored_names(home_directory(), begun)
    except SmlocalError:
        return []
