"""The events that open pages get, read without a browser."""

import gc
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.kit import until
from tests.kit.fixtures import touch_inside

from smlocal.endpoint import http_server
from smlocal.endpoint.page.front import PageStreams

HELD = "until [ -e /opt/ml/output/go ]; do sleep 0.05; done"


@dataclass(kw_only=True)
class Reader:
    """An open page, as far as the server sees it."""

    connection: socket.socket
    events: list[tuple[str, str, str]] = field(default_factory=list)
    """Kind, position and text."""

    @classmethod
    def connected(cls, address: str, path: str, *, last: str = "", buffer: int | None = None) -> "Reader":
        connection = socket.socket()
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        place = urlsplit(address)
        connection.settimeout(200)
        connection.connect((place.hostname, place.port))
        again = f"Last-Event-ID: {last}\r\n" if last else ""
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n{again}\r\n".encode())
        return cls(connection=connection)

    def read(self, *, until: str = "end") -> None:
        """Read events until one of this kind."""
        with self.connection.makefile("rb") as stream:
            assert stream.readline().startswith(b"HTTP/1.1 200")
            while stream.readline().strip():
                pass
            rest = b""
            while size := int(stream.readline() or b"0", 16):
                rest += stream.read(size + 2)[:-2]
                *whole, rest = rest.split(b"\n\n")
                for each in whole:
                    self._take(each.decode())
                if self.events and self.events[-1][0] == until:
                    return

    @property
    def log(self) -> str:
        return "".join(text for kind, _, text in self.events if kind == "log")

    def part(self, name: str) -> list[str]:
        """All versions of a part of the page."""
        return [text.partition("\n")[2] for kind, _, text in self.events if kind == "part" and text.startswith(name)]

    def _take(self, event: str) -> None:
        lines: dict[str, list[str]] = {}
        for line in event.split("\n"):
            name, _, text = line.partition(": ")
            lines.setdefault(name, []).append(text)
        if "event" in lines:
            self.events.append((lines["event"][0], lines.get("id", [""])[0], "\n".join(lines["data"])))


@pytest.fixture
def open_page(endpoint: Any) -> Iterator[Callable[..., Reader]]:
    """Opens a page, as far as the server sees it."""
    opened = []

    def connect(path: str, **about: Any) -> Reader:
        opened.append(Reader.connected(endpoint.address, path, **about))
        return opened[-1]

    yield connect
    for each in opened:
        each.connection.close()


@pytest.mark.slow(2)
def test_fifty_pages_get_every_line_and_the_server_forgets_them(
    endpoint: Any, run_job: Callable[..., None], open_page: Callable[..., Reader]
) -> None:
    run_job(
        "page-fifty", "for i in $(seq 40); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.05; done", until="Training"
    )
    readers = [open_page("/-/jobs/page-fifty/events?host=algo-1&from=0") for _ in range(50)]
    threads = [threading.Thread(target=each.read, daemon=True) for each in readers]
    for each in threads:
        each.start()
    for each in threads:
        each.join(200)
    wanted = "".join(f"{number}\n" for number in range(1000, 41_000))
    assert all(each.log == wanted for each in readers)
    assert all(each.events[-1][0] == "end" for each in readers)
    assert all("Completed in" in each.part("outcome")[-1] for each in readers)
    until_nothing_is_open(endpoint)


@pytest.mark.slow(2)
def test_a_page_that_connects_again_goes_on_where_it_was(
    run_job: Callable[..., None], open_page: Callable[..., Reader]
) -> None:
    run_job("page-letters", "printf 'a\\tb\\n\\n\\303\\244\\342\\202'")
    path = "/-/jobs/page-letters/events?host=algo-1"
    whole = open_page(f"{path}&from=0")
    whole.read()
    assert whole.log == "a#011b\n\nä\ufffd"
    again = open_page(f"{path}&from=0", last="5")
    again.read()
    assert again.log == "ä\ufffd"
    for start in ("end", "-1", "99999999999999999999999", "1e3", ""):
        tail = open_page(f"{path}&from={start}")
        tail.read()
        assert tail.log in {"a#011b\n\nä\ufffd", ""}
    beyond = open_page(f"{path}&from=100000000")
    beyond.read()
    assert beyond.log == ""
    without = open_page("/-/jobs/page-letters/events?host=..")
    without.read()
    assert without.log == ""


@pytest.mark.slow(2)
def test_pages_that_vanish_or_do_not_read_cost_nothing(
    endpoint: Any, run_job: Callable[..., None], open_page: Callable[..., Reader]
) -> None:
    run_job("page-flood", f"yes 'a line that is not short at all' | head -c 30000000; {HELD}", until="Training")
    path = "/-/jobs/page-flood/events?host=algo-1&from=0"
    stuck = [open_page(path, buffer=4096) for _ in range(10)]
    reader = open_page(path)
    let_go(endpoint, "page-flood")
    reader.read()  # the others are not delayed
    assert len(reader.log) == 30_000_000
    for each in stuck:
        each.connection.close()
    idle = [open_page("/-/jobs.events") for _ in range(10)]
    (streams,) = streams_of(endpoint)
    until(lambda: streams.open >= len(idle))
    for each in idle:
        each.connection.close()
    until_nothing_is_open(endpoint)


@pytest.mark.slow(2)
def test_a_job_that_is_removed_says_so(
    endpoint: Any, browserless: Any, run_job: Callable[..., None], open_page: Callable[..., Reader]
) -> None:
    run_job("page-removed", "trap 'exit 0' TERM; echo up; sleep 600 & wait", until="Training")
    reader = open_page("/-/jobs/page-removed/events?host=algo-1&from=0")
    listed = open_page("/-/jobs.events?name=page-rem")
    thread = threading.Thread(target=listed.read, daemon=True)
    thread.start()
    endpoint.client("sagemaker").stop_training_job(TrainingJobName="page-removed")
    reader.read()
    assert "Stopped after" in reader.part("outcome")[-1]
    endpoint.client("sagemaker").delete_training_job(TrainingJobName="page-removed")
    until(lambda: "No job is as asked" in "".join(listed.part("jobs")[-1:]))
    listed.connection.shutdown(socket.SHUT_RDWR)
    thread.join(200)
    assert browserless.get("/-/jobs/page-removed/events").status == 404
    until_nothing_is_open(endpoint)


def test_open_pages_do_not_keep_a_server_that_ends(
    make_endpoint: Callable[..., Any], script_job: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would wait for ever for what does not end by itself.
    monkeypatch.setattr(http_server, "_END_SECONDS", 600.0)
    with make_endpoint() as endpoint:
        endpoint.client("sagemaker").create_training_job(**script_job("page-outlives", HELD))
        readers = [
            Reader.connected(endpoint.address, path)
            for path in ("/-/jobs.events", "/-/jobs/page-outlives/events?host=algo-1&from=0")
        ]
        threads = [threading.Thread(target=each.read, daemon=True) for each in readers]
        for each in threads:
            each.start()
        until(lambda: all(each.events for each in readers))
    for each, reader in zip(threads, readers, strict=True):
        each.join(200)
        assert not each.is_alive()
        reader.connection.close()
    with make_endpoint() as endpoint:
        let_go(endpoint, "page-outlives")
        endpoint.client("sagemaker").get_waiter("training_job_completed_or_stopped").wait(
            TrainingJobName="page-outlives"
        )


@pytest.mark.parametrize("path", ["/-/jobs/none/events", "/-/jobs/none/events?host=algo-1&from=0"])
def test_there_are_no_events_of_a_job_that_is_not_there(path: str, browserless: Any) -> None:
    assert browserless.get(path).status == 404


def streams_of(endpoint: Any) -> list[PageStreams]:
    """The one of this server."""
    return [each for each in gc.get_objects() if isinstance(each, PageStreams) and each._serving is endpoint.serving]


def until_nothing_is_open(endpoint: Any) -> None:
    """Wait until the server has no stream any more, and reads nothing for one."""
    (streams,) = streams_of(endpoint)
    until(lambda: not (streams.open or len(streams.jobs) or len(streams.lists) or len(streams.logs)))


def let_go(endpoint: Any, job: str) -> None:
    """Make the file for which `HELD` waits."""
    touch_inside(Path(endpoint.store.directory(job)) / "hosts" / "algo-1" / "output" / "go")
