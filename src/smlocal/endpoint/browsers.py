"""Rules for browsers: which names they may ask under, and which answers they may show.

A page of another site must not reach a server, under whatever name it is looked up.
"""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.protocol.aws_names import is_aws

_LOCAL = {"localhost", "host.docker.internal", "host.containers.internal"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hosts:
    """The names that were allowed, beside those of this machine."""

    allowed: frozenset[str] = frozenset()

    def refusal(self, request: Request) -> str | None:
        """Why a request is not answered; None if it is."""
        host = _name(request.headers.get("host", ""))
        if not self._known(host):
            return f"smlocal does not answer to the name {host!r}. Allow it with: smlocal serve --allow-host NAME"
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return "smlocal does not answer pages of other sites"
        from_here = request.headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
        if not from_here and not _opens_a_page(request):
            return "smlocal does not answer pages of other sites"
        return None

    def _known(self, host: str) -> bool:
        # `smlocal exec` passes on AWS's names, and no other server can make a browser look them up here.
        if host in _LOCAL or host in self.allowed or host.endswith(".localhost") or is_aws(host):
            return True
        try:
            ipaddress.ip_address(host)  # a name is needed to trick a browser; an address was typed
        except ValueError:
            return False
        return True


def _opens_a_page(request: Request) -> bool:
    """True for a link that a person follows. It changes nothing, and the other site does not see the answer."""
    headers = request.headers
    opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return opened and request.method in {"GET", "HEAD"}


def is_part_of_a_page(request: Request) -> bool:
    """True for what a browser wants to run, show or embed in a page: a script, a style, an image, a frame."""
    return request.headers.get("sec-fetch-dest", "empty") not in {"document", "empty"}


def _name(host: str) -> str:
    """Without the port and the brackets of IPv6."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


# Headers that keep a browser from doing anything with an answer but show it.
# The page, S3 and all else are one origin for a browser: the content of a bucket must never run in it.

_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
ALWAYS = {
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
FOR_DATA = {**ALWAYS, "content-security-policy": _POLICY}
"""For what clients and jobs have written: nothing in it is ever executed."""
_RAW_POLICY = b"content-security-policy"
_RAW = [(name.encode(), value.encode()) for name, value in FOR_DATA.items()]


def guarded(response: Response) -> Response:
    """The same answer, with a policy if it has none: only the page itself chooses another."""
    if not any(name == _RAW_POLICY for name, _ in response.raw_headers):
        response.raw_headers.extend(_RAW)
    return response
