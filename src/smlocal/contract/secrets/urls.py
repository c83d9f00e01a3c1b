"""Hides passwords, tokens and signatures in URLs. They may be in any text that is printed."""

import re

HIDDEN = "•••"
# Not compiled here: most runs print no such URL. Each part has a limit, or time would grow with the square of the text.
_BOTH = (
    r"(?P<head>[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#:\"]{0,500}:)"
    r"(?:[^\s/?#\"]{1,4000}|(?!\d+(?:[/?#]|$))[^\s@\"]{1,4000})@"  # a password may contain `/`; a port is no password
)
_USER = r"(?P<head>https?://)[^\s/?#@:\"]+:?@"
"""In an HTTP URL, a user without a password is usually a token."""
_QUERY = r"(?P<head>[?&](?P<name>[^\s=&?#\"']+)=)[^\s&#\"']+"
_SIGNATURE = r"(?i)sig(nature)?$"


def without_passwords(text: str) -> str:
    """The text with each of them replaced by `•••`."""
    if "://" not in text or ("@" not in text and "?" not in text):
        return text
    text = re.sub(_USER, rf"\g<head>{HIDDEN}@", re.sub(_BOTH, rf"\g<head>{HIDDEN}@", text))
    return re.sub(_QUERY, _masked_query, text)


def _masked_query(match: re.Match[str]) -> str:
    from smlocal.contract.secrets.names import looks_secret

    secret = looks_secret(match["name"]) or re.search(_SIGNATURE, match["name"])
    return f"{match['head']}{HIDDEN}" if secret else match[0]
