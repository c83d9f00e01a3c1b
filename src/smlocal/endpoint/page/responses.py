"""Responses of the page, also files of jobs, with headers that keep a browser from doing anything else with them."""

import os
import stat
from collections.abc import Iterator
from typing import Any

from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response, StreamingResponse

from smlocal.base.web import ALWAYS, FOR_DATA
from smlocal.endpoint.serving import Serving
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.logs.log_readers import host_logs
from smlocal.report.page import render
from smlocal.terms.log_view import LogView

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
    """A page that describes a problem."""
    return html(render("live/problem.html", sentence=sentence, details=details), status=status)


def own_file(content: bytes, kind: str) -> Response:
    """A file that belongs to the page."""
    return Response(content, media_type=kind, headers=PAGE_HEADERS)


def moved(address: str) -> Response:
    """To another page, with GET."""
    return PlainTextResponse("", status_code=303, headers={**PAGE_HEADERS, "location": address})


# Files of jobs that may be downloaded: logs, and the artifacts that the jobs have made.

_KINDS = {"model": "Model", "output": "Output"}
_PIECE = 1 << 20


def whole_log(serving: Serving, name: str, host: str) -> Response | None:
    """The log of a host so far, as the service shows it; None if there is no such host."""
    path = host_logs(serving.store, name).get(host)
    if path is None:
        return None
    return StreamingResponse(_shown(path), media_type="text/plain; charset=utf-8", headers=DATA_HEADERS)


def _shown(path: str) -> Iterator[bytes]:
    view = LogView()
    try:
        with open(path, "rb", buffering=0) as log:
            left = os.fstat(log.fileno()).st_size
            while left > 0 and (piece := log.read(min(_PIECE, left))):
                left -= len(piece)
                yield view.feed(piece)
        yield view.feed(b"", last=True)
    except FileNotFoundError:
        return


def artifact(serving: Serving, name: str, kind: str, member: str) -> Response | None:
    """An artifact, or a file of an artifact that is a folder; None if the job has no such file."""
    serving.store.get(name)
    artifacts = (serving.store.document(name, LOCAL) or {}).get("Artifacts") or {}
    path = artifacts.get(_KINDS.get(kind, ""))
    if not isinstance(path, str) or "\0" in member:
        return None
    if member:
        path = _below(path, member)
    if path is None or not _is_file(path):
        return None
    return FileResponse(
        path, filename=os.path.basename(path), media_type="application/octet-stream", headers=DATA_HEADERS
    )


def _below(folder: str, member: str) -> str | None:
    """The path of a file in a folder, unless a link is on the way: containers can make links to anything."""
    top = os.path.realpath(folder)
    path = os.path.join(top, member)
    return path if os.path.realpath(path) == path and path.startswith(f"{top}/") else None


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
