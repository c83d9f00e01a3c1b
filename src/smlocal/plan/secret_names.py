"""Which variables are better not shown around."""

import re

_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """True for a variable whose value is better not shown around."""
    return _SECRET.search(name) is not None
