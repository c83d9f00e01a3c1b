"""Responses of the page, with headers that keep a browser from doing anything else with them."""

from typing import Any

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from smlocal.report.page import render
from smlocal.server.browser_headers import ALWAYS, FOR_DATA

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    **ALWAYS,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",  # browsers send the Origin of a form only with it
}
PAGE_HEADERS = {**_ALWAYS, "content-security-policy": _POLICY}
DATA_HEADERS = {**_ALWAYS, **FOR_DATA}
"""For what jobs have written: nothing in it is ever executed."""


def html(text: str, *, status: int = 200) -> Response:
    """A page."""
    return HTMLResponse(text, status_code=status, headers=PAGE_HEADERS)


def problem(sentence: str, *, status: int, details: Any = ()) -> Response:
    """A page that says what is wrong."""
    return html(render("live/problem.html", sentence=sentence, details=details), status=status)


def own_file(content: bytes, kind: str) -> Response:
    """A file that belongs to the page."""
    return Response(content, media_type=kind, headers=PAGE_HEADERS)


def moved(address: str) -> Response:
    """To another page, with GET."""
    return PlainTextResponse("", status_code=303, headers={**PAGE_HEADERS, "location": address})
