"""Rules for browsers at the addresses of a server: which names they may ask under, and which answers they may show."""

from starlette.requests import Request
from starlette.responses import Response

from smlocal.base import web
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.protocol.aws_names import is_aws


@dataclass(frozen=True, kw_only=True, slots=True)
class Hosts:
    """The names that were allowed, beside those of this machine."""

    allowed: frozenset[str] = frozenset()

    def refusal(self, request: Request) -> str | None:
        """Why a request is not answered; None if it is."""
        return web.refusal(
            request.method,
            request.headers,
            # `smlocal exec` passes on AWS's names, and no other server can make a browser look them up here.
            knows=lambda host: host in self.allowed or is_aws(host),
            hint=". Allow it with: smlocal serve --allow-host NAME",
        )


def is_part_of_a_page(request: Request) -> bool:
    """True for what a browser wants to run, show or embed in a page: a script, a style, an image, a frame."""
    return request.headers.get("sec-fetch-dest", "empty") not in {"document", "empty"}


_RAW_POLICY = b"content-security-policy"
_RAW = [(name.encode(), value.encode()) for name, value in web.FOR_DATA.items()]


def guarded(response: Response) -> Response:
    """The same answer, with a policy if it has none: only the page itself chooses another."""
    if not any(name == _RAW_POLICY for name, _ in response.raw_headers):
        response.raw_headers.extend(_RAW)
    return response
