"""Where the documentation is. Tests compare it with pyproject.toml, and what is named here with the pages."""

from typing import Final

DOCUMENTATION: Final = "https://smlocal.github.io/smlocal/latest/"
"""The pages of the newest release: ids of errors and of rules stay."""


def section(page: str, anchor: str) -> str:
    """The address of a section of a page, such as that of an error on the page `errors`."""
    return f"{DOCUMENTATION}{page}/#{anchor}"
