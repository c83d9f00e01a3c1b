"""The key of the page, where others than this machine reach it, and the link that has it."""

import hmac

from smlocal.server.page.addresses import PREFIX
from smlocal.server.signature import Signatures

LOGIN = f"{PREFIX}login"
_MEANING = b"the page of smlocal"


def page_key(signatures: Signatures) -> str:
    """The key of the page. It belongs to the key of calls, which cannot be computed from it."""
    return hmac.digest(signatures.secret_key.encode(), _MEANING, "sha256").hex()


def login_link(address: str, signatures: Signatures) -> str:
    """What to open in a browser."""
    return f"{address}{LOGIN}?key={page_key(signatures)}"
