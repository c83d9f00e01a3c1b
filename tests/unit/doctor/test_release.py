"""Whether there is a newer smlocal: asked of a package index, and only then."""

import json
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from smlocal.doctor.checks import check_smlocal, judge_release
from smlocal.doctor.machine import Machine, ask_newest_release

LONG = 600.0
"""Seconds, which no machine takes."""
FILES = [
    {"filename": "smlocal-0.9.0.tar.gz"},
    {"filename": "smlocal-0.10.0-py3-none-any.whl"},
    {"filename": "smlocal-0.11.0rc1-py3-none-any.whl"},
    {"filename": "smlocal-0.12.0-py3-none-any.whl", "yanked": "broken"},
    {"filename": "smlocal_extras-9.0.tar.gz"},
]


@pytest.fixture
def slow() -> dict[str, Any]:
    """How many spaces the index sends one by one before an answer."""
    return {"spaces": 0, "over": Event()}


@pytest.fixture
def index(slow: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a package index, and what it answers under each path."""
    answers: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            with suppress(OSError):  # who asks has gone
                for _ in range(0 if body is None else slow["spaces"]):
                    self.wfile.write(b" ")
                    slow["over"].wait(0.02)  # passes: between two bytes
                self.wfile.write(b"" if body is None else body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple", answers
    finally:
        slow["over"].set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_newest_release_of_an_index(index: tuple[str, dict[str, Any]]) -> None:
    address, answers = index
    environment = {"PIP_INDEX_URL": f"{address}/"}
    assert ask_newest_release(environment, seconds=LONG) is None
    for wrong in (b"<html>", b"[]", b'{"files": [1]}', b'{"files": []}'):
        answers["/simple/smlocal/"] = wrong
        assert ask_newest_release(environment, seconds=LONG) is None
    answers["/simple/smlocal/"] = json.dumps({"files": FILES}).encode()
    assert ask_newest_release(environment, seconds=LONG) == "0.10.0"
    assert ask_newest_release({"UV_DEFAULT_INDEX": address}, seconds=LONG) == "0.10.0"
    assert ask_newest_release({"PIP_INDEX_URL": "file:///etc"}, seconds=LONG) is None


def test_an_index_that_answers_byte_by_byte_is_not_waited_for(
    index: tuple[str, dict[str, Any]], slow: dict[str, Any]
) -> None:
    address, answers = index
    answers["/simple/smlocal/"] = json.dumps({"files": FILES}).encode()
    slow["spaces"] = 100
    assert ask_newest_release({"PIP_INDEX_URL": address}, seconds=0.5) is None
    slow["over"].set()
    assert ask_newest_release({"PIP_INDEX_URL": address}, seconds=LONG) == "0.10.0"


@pytest.mark.parametrize(
    ("own", "newest", "says", "severity"),
    [
        ("0.9.1", "0.10.0", "there is a newer release: 0.10.0", "warning"),
        ("0.10.0", "0.10.0", "there is no newer release", "ok"),
        ("0.11.0.dev1", "0.10.0", "there is no newer release", "ok"),
        ("0.9.1", None, "does not say", "ok"),
        ("0.9.1", "", "0.9.1, Python 3.", "ok"),
    ],
)
def test_the_judgement(own: str, newest: str | None, says: str, severity: str) -> None:
    found = judge_release(own, newest)
    assert (found.severity, says in found.sentence) == (severity, True), found.sentence


def test_nobody_is_asked_unless_a_person_wants_that(
    index: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.doctor.machine._INDEX_SECONDS", LONG)
    address, answers = index
    answers["/simple/smlocal/"] = json.dumps({"files": [{"filename": "smlocal-999.0.tar.gz"}]}).encode()
    environment = {"PIP_INDEX_URL": address}
    assert "newer" not in check_smlocal(Machine(environment=environment)).sentence
    assert "newer release: 999.0" in check_smlocal(Machine(environment=environment, online=True)).sentence
