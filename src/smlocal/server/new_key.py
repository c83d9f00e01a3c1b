"""A key as clients of AWS have it: of a home, or of one run of `smlocal exec`."""

import secrets
import string

_LETTERS = string.ascii_uppercase + "234567"


def new_key() -> tuple[str, str]:
    """The id of the key and its secret. Nobody knows it yet."""
    return "AKIA" + "".join(secrets.choice(_LETTERS) for _ in range(16)), secrets.token_urlsafe(30)
