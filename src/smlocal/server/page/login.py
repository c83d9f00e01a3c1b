"""Who may see the page, where others than this machine reach it: whoever has opened the link that the server prints."""

import hmac
from http.cookies import CookieError, SimpleCookie

from starlette.requests import Request
from starlette.responses import Response

from smlocal.server.page.responses import moved

_COOKIE = "smlocal-page"


def is_logged_in(request: Request, key: str) -> bool:
    """True if the browser has the cookie."""
    try:
        cookie = SimpleCookie(request.headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return False
    return cookie is not None and _same(cookie.value, key)


def logged_in(given: str, key: str) -> Response | None:
    """The answer to the link: the cookie, which no script can read and which pages of other sites do not send."""
    if not _same(given, key):
        return None
    response = moved("/")
    response.set_cookie(_COOKIE, key, httponly=True, samesite="strict")
    return response


def _same(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), key.encode())
