"""The addresses of the page. They begin with `/-/`, because no bucket has that name."""

from urllib.parse import quote

PREFIX = "/-/"


def job_address(name: str) -> str:
    """The page of a job."""
    return f"{PREFIX}jobs/{quote(name, safe='')}"
