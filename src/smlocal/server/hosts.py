"""Which names a server answers to. A page of another site must not reach it, under whatever name it is looked up."""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request

from smlocal.quick_dataclass import dataclass
from smlocal.server.aws_names import is_aws

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
        # `smlocal exec` passes on AWS's names, and nobody else can make a browser look them up here.
        if host in _LOCAL or host in self.allowed or host.endswith(".localhost") or is_aws(host):
            return True
        try:
            ipaddress.ip_address(host)  # a name is needed to trick a browser; an address is what was typed
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
