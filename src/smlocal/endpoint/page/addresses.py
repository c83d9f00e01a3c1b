"""The addresses of the page, and the key that opens it where other machines can reach it.

Addresses begin with `/-/`, because no bucket has that name.
"""

import hmac
from urllib.parse import quote

from smlocal.endpoint.signature import Signatures

PREFIX = "/-/"


def job_address(name: str) -> str:
    """The page of a job."""
    return f"{PREFIX}jobs/{quote(name, safe='')}"


LOGIN = f"{PREFIX}login"
_MEANING = b"the page of smlocal"


def page_key(signatures: Signatures) -> str:
    """The key of the page. It belongs to the key of calls, which cannot be computed from it."""
    return hmac.digest(signatures.secret_key.encode(), _MEANING, "sha256").hex()


def login_link(address: str, signatures: Signatures) -> str:
    """The link to open in a browser."""
    return f"{address}{LOGIN}?key={page_key(signatures)}"
