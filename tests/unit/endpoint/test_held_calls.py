"""Describe of a waiter: it is held, for many at once, and not for those that have gone."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse

import pytest
from tests.kit import until
from tests.unit.report.conftest import StoredJob

from smlocal.endpoint import aws_calls
from smlocal.endpoint.application import Application
from smlocal.endpoint.aws_calls import by_waiter
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.endpoint.serving import Serving
from smlocal.jobs.store.lease import Lease

_MANY = 200
_HEAD = (
    "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: SageMaker.DescribeTrainingJob\r\n"
    "Content-Type: application/x-amz-json-1.1\r\nUser-Agent: Boto3/1 m/A,{feature},n\r\nContent-Length: {size}\r\n\r\n"
)


class Server:
    """The server on a port, and sockets of its clients."""

    def __init__(self, serving: Serving, stack: ExitStack) -> None:
        self.watch = serving.status_watch
        self._stack = stack
        listener = stack.enter_context(listen("127.0.0.1", 0))
        self._port = listener.getsockname()[1]
        self._http = HttpServer(Application(serving, hosts=Hosts(), signatures=None), listener)
        self._http.__enter__()
        stack.callback(self.end)

    def end(self) -> None:
        self._http.__exit__(None, None, None)

    def ask(self, name: str, *, feature: str = "B") -> socket.socket:
        client = self._stack.enter_context(socket.create_connection(("127.0.0.1", self._port), 200))
        body = json.dumps({"TrainingJobName": name})
        client.sendall((_HEAD.format(feature=feature, size=len(body)) + body).encode())
        return client

    def until_held(self, count: int) -> None:
        until(lambda: len(self.watch._waiting) == count)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[object, str], list[str]]:
    """The calls of a method, which go on as before."""

    def count(owner: object, name: str) -> list[str]:
        calls: list[str] = []
        method = getattr(owner, name)

        def call() -> object:
            calls.append(name)
            return method()

        monkeypatch.setattr(owner, name, call)
        return calls

    return count


@pytest.fixture
def server(serving: Serving) -> Iterator[Server]:
    with ExitStack() as stack:
        yield Server(serving, stack)


@pytest.fixture
def job(serving: Serving, store_job: Callable[..., StoredJob]) -> Iterator[StoredJob]:
    """A job that runs, in this process."""
    running = store_job("held")
    lease = Lease.take(serving.store.directory("held"))
    assert lease is not None
    yield running
    lease.release()


def answer(client: socket.socket) -> str:
    """The status of the job in the answer."""
    received = b""
    while not received.endswith(b"}"):
        piece = client.recv(65536)
        assert piece, received
        received += piece
    assert received.startswith(b"HTTP/1.1 200"), received
    return str(json.loads(received.partition(b"\r\n\r\n")[2])["TrainingJobStatus"])


@pytest.mark.slow(0.5)
def test_many_are_held_until_the_job_ends(
    server: Server, job: StoredJob, counted: Callable[[object, str], list[str]]
) -> None:
    looks, reads = counted(server.watch._changes, "number"), counted(server.watch, "_unfinished")
    clients = [server.ask("held") for _ in range(_MANY)]
    server.until_held(_MANY)
    until(lambda: len(reads) > _MANY)  # each of them once, and the watch when it began
    read, looked = len(reads), len(looks)
    until(lambda: len(looks) > looked + 10)
    assert len(reads) == read, "the jobs are read again though none has changed"
    assert answer(server.ask("held", feature="C")) == "InProgress"

    job.end(5)
    assert {answer(client) for client in clients} == {"Completed"}
    server.until_held(0)


def test_a_client_that_goes_is_not_waited_for(server: Server, job: StoredJob) -> None:
    clients = [server.ask("held") for _ in range(3)]
    server.until_held(3)
    for client in clients[1:]:
        client.close()
    server.until_held(1)

    job.end(5)
    assert answer(clients[0]) == "Completed"


def test_a_client_that_reads_for_a_shorter_time_is_answered_when_it_tries_again(
    server: Server, job: StoredJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = server.ask(job.name)
    server.until_held(1)
    client.close()
    server.until_held(0)
    monkeypatch.setattr(aws_calls, "_SILENT", 500)  # were it held again, the client would give up again
    assert answer(server.ask(job.name)) == "InProgress"


@pytest.mark.slow(0.5)
def test_a_long_job_has_an_answer_that_begins_early_and_ends_with_the_job(
    server: Server, job: StoredJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws_calls, "_SILENT", 0.2)
    monkeypatch.setattr(aws_calls, "_BETWEEN", 0.1)
    with HTTPResponse(server.ask(job.name)) as response:
        response.begin()
        assert response.read(2) == b"  "
        job.end(5)
        assert json.loads(response.read())["TrainingJobStatus"] == "Completed"


@pytest.mark.slow(0.5)
def test_a_waiter_that_asks_again_soon_is_left_to_its_own_clock(
    server: Server, job: StoredJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws_calls, "_SILENT", 0.1)
    monkeypatch.setattr(aws_calls, "_BETWEEN", 0.1)
    monkeypatch.setattr(aws_calls, "_LONGEST", 0.3)
    with HTTPResponse(server.ask(job.name)) as response:
        response.begin()
        assert json.loads(response.read())["TrainingJobStatus"] == "InProgress"
    monkeypatch.setattr(aws_calls, "_SILENT", 500)  # were it held now, the client would give up first
    assert answer(server.ask(job.name)) == "InProgress"


def test_a_server_that_ends_answers_what_it_holds(server: Server, job: StoredJob) -> None:
    client = server.ask(job.name)
    server.until_held(1)
    server.end()  # long before `_SILENT`, when the client would have given up
    assert answer(client) == "InProgress"


def test_a_job_that_has_ended_or_is_unknown_is_not_waited_for(server: Server, job: StoredJob) -> None:
    job.end(5)
    assert answer(server.ask("held")) == "Completed"
    assert server.ask("other").recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("user_agent", "expected"),
    [
        ("Boto3/1.44.5 md/Botocore#1.44.5 ua/2.1 cfg/retry-mode#legacy m/B,Z", True),
        ("Boto3/1.44.5 m/Z,b", False),
        ("Boto3/1.44.5 m/BB", False),
        ("", False),
    ],
)
def test_waiters_are_told_by_their_feature(user_agent: str, expected: bool) -> None:
    assert by_waiter(user_agent) is expected
