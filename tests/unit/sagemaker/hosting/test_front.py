"""The front of a container: what passes, what does not, and which error each trouble becomes."""

import http.client
import json
import random
import resource
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.unit.sagemaker.hosting.fronts import BEGIN, PATH, Behave, Container, ask, echo

from smlocal.sagemaker.hosting.front import Front
from smlocal.sagemaker.serving.invocations import read_invocations
from smlocal.sagemaker.serving.route import Route, Step


@pytest.mark.slow(0.5)
def test_an_invocation_reaches_the_container(front: Any) -> None:
    one, server = front()
    status, headers, body = ask(one, b"1,2")
    assert (status, body) == (200, b"1,2")
    assert headers["Content-Type"] == "text/csv"
    assert headers["x-Amzn-Invoked-Production-Variant"] == "Blue"
    ((path, _, content),) = server.seen
    assert (path, content) == ("/invocations", b"1,2")


@pytest.mark.slow(0.5)
def test_only_headers_of_the_service_pass(front: Any) -> None:
    one, server = front(lambda c: c.answer(b"", X_Amzn_SageMaker_Custom_Attributes="back", X_Other="stays"))
    sent = {
        "Content_Type": "text/csv",
        "Accept": "application/json",
        "X_Amzn_SageMaker_Custom_Attributes": "trace=1",
        "X_Amzn_SageMaker_Target_Model": "a.tar.gz",
        "X_Amzn_SageMaker_Inference_Id": "7",
    }
    _, headers, _ = ask(one, b"", **sent, Authorization="secret", X_Other="dropped", Cookie="c")
    ((_, seen, _),) = server.seen
    passed = {name.lower() for name in seen} - {"host", "content-length"}
    assert passed == {name.lower().replace("_", "-") for name in sent}
    assert headers["X-Amzn-SageMaker-Custom-Attributes"] == "back"
    assert "X-Other" not in headers


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_an_error_of_the_container_is_a_model_error(front: Any, status: int) -> None:
    one, _ = front(lambda c: c.answer(b"no such feature", status))
    code, headers, body = ask(one)
    said = json.loads(body)
    assert (code, headers["x-amzn-ErrorType"]) == (424, "ModelError")
    assert said["OriginalStatusCode"] == status
    assert said["OriginalMessage"] == "no such feature"
    assert said["LogStreamArn"] == "arn:aws:logs:eu-west-1:123:log-group:/aws/sagemaker/Endpoints/here"
    kind = "client" if status < 500 else "server"
    assert said["Message"].startswith(f'Received {kind} error ({status}) from primary with message "no such feature".')


def half(container: Container) -> None:
    container.send_response(200)
    container.send_header("Content-Length", "1000")
    container.end_headers()
    container.wfile.write(b"x" * 10)
    container.close_connection = True


def no_http(container: Container) -> None:
    container.wfile.write(b"what?\r\n\r\n")
    container.close_connection = True


def close(container: Container) -> None:
    container.close_connection = True


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("behave", [half, no_http, close])
def test_an_answer_that_is_not_whole_is_a_model_error(front: Any, behave: Behave) -> None:
    one, _ = front(behave)
    status, _, body = ask(one)
    assert (status, json.loads(body)["OriginalStatusCode"]) == (424, 0)


@pytest.mark.slow(0.5)
def test_an_answer_that_does_not_come_is_a_model_error(front: Any) -> None:
    never = threading.Event()
    one, _ = front(lambda _: never.wait(200) and None, invocation=0.2)
    status, _, body = ask(one)
    never.set()
    assert status == 424
    assert "Your invocation timed out while waiting for a response from container" in json.loads(body)["Message"]


@pytest.mark.slow(0.5)
def test_a_container_that_is_gone_is_said(front: Any) -> None:
    one, _ = front()
    one.serve_from(None)
    assert ask(one)[0] == 503


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(front: Any, *, chunked: bool) -> None:
    one, server = front(most=1000)
    body: Any = iter([b"x" * 600] * 2) if chunked else b"x" * 1001
    more = {"Transfer_Encoding": "chunked"} if chunked else {}
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        headers = {k.replace("_", "-"): v for k, v in more.items()}
        connection.request("POST", PATH, body=body, headers=headers, encode_chunked=chunked)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        assert answer.status == 413
        assert said["Message"].endswith("has exceeded the upper limit of 1000 bytes.")
        assert server.seen == []
        connection.request("POST", PATH, body=b"x" * 1000)  # over another connection: the answer has said so
        assert connection.getresponse().status == 200


@pytest.mark.slow(0.5)
def test_a_body_in_chunks_arrives_whole(front: Any) -> None:
    one, server = front()
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        connection.request(
            "POST", PATH, body=iter([b"1,", b"2"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"}
        )
        assert connection.getresponse().read() == b"1,2"
    assert server.seen[0][2] == b"1,2"


def test_a_streamed_answer_comes_piece_by_piece(front: Any) -> None:
    go_on = threading.Event()

    def stream(container: Container) -> None:
        container.send_response(200)
        container.send_header("Transfer-Encoding", "chunked")
        container.end_headers()
        container.wfile.write(b"5\r\nfirst\r\n")
        go_on.wait(200)
        container.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")

    one, _ = front(stream)
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        connection.request("POST", PATH, body=b"")
        answer = connection.getresponse()
        assert answer.read1(100) == b"first"  # the container has not sent the rest
        go_on.set()
        assert answer.read() == b"second"


@pytest.mark.parametrize(("path", "whole"), [(PATH, False), (f"{PATH}-response-stream", True)])
def test_a_streamed_answer_that_has_begun_has_more_time(front: Any, path: str, whole: bool) -> None:
    go_on, over = threading.Event(), threading.Event()

    def stream(container: Container) -> None:
        container.send_response(200)
        container.send_header("Transfer-Encoding", "chunked")
        container.end_headers()
        container.wfile.write(b"5\r\nfirst\r\n")
        go_on.wait(60)
        with suppress(ConnectionError):
            container.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")

    one, _ = front(stream, invocation=1000.0, stream=2000.0)

    def let_the_time_pass() -> None:
        for timer in one.loop._timers[1000.0]:
            timer.at = 0.0
        one.loop.soon.append(lambda: one.loop.after(0.0, over.set))

    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        connection.request("POST", path, body=b"")
        answer = connection.getresponse()
        assert answer.read1(100) == b"first"
        one.loop.call(let_the_time_pass)
        assert over.wait(60)
        go_on.set()
        if whole:
            assert answer.read() == b"second"
        else:
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                answer.read()


def test_a_streamed_answer_ends_in_its_time(front: Any) -> None:
    def stream(container: Container) -> None:
        container.send_response(200)
        container.send_header("Transfer-Encoding", "chunked")
        container.end_headers()
        container.wfile.write(b"5\r\nfirst\r\n")
        container.rfile.read(1)  # until the connection is closed

    one, _ = front(stream, invocation=0.9, stream=1.0)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(one, path=f"{PATH}-response-stream")


@pytest.mark.slow(0.5)
def test_an_answer_of_many_bytes_passes(front: Any) -> None:
    one, _ = front(lambda c: c.answer(b"x" * (5 << 20)))
    assert len(ask(one)[2]) == 5 << 20


@pytest.mark.slow(0.5)
def test_an_answer_without_content_is_one(front: Any) -> None:
    def nothing(container: Container) -> None:
        container.send_response(204)
        container.end_headers()

    one, _ = front(nothing)
    assert ask(one)[::2] == (200, b"")


@pytest.mark.slow(0.5)
def test_connections_are_kept_on_both_sides(front: Any) -> None:
    one, server = front()
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        for number in range(20):
            connection.request("POST", PATH, body=str(number))
            assert connection.getresponse().read() == str(number).encode()
    assert len(server.ports) == 1


@pytest.mark.slow(0.5)
def test_a_kept_connection_that_the_container_has_closed_is_replaced(front: Any) -> None:
    def once(container: Container) -> None:
        echo(container)
        container.close_connection = True  # without saying so

    one, server = front(once)
    for body in (b"a", b"b", b"c"):
        assert ask(one, body)[2] == body
        assert server.closed.acquire(timeout=60)
    assert [content for _, _, content in server.seen] == [b"a", b"b", b"c"]


@pytest.mark.slow(0.5)
def test_a_request_is_not_sent_twice_to_a_server_that_fails_on_it(front: Any) -> None:
    def fails_later(container: Container) -> None:
        if container.content == b"bad":
            container.close_connection = True
        else:
            echo(container)

    one, server = front(fails_later)
    assert ask(one, b"good")[0] == 200
    assert ask(one, b"bad")[0] == 424
    assert [content for _, _, content in server.seen] == [b"good", b"bad"]


@pytest.mark.slow(0.5)
def test_many_clients_at_once_get_their_own_answers(front: Any) -> None:
    one, _ = front()
    wrong: list[str] = []

    def client(number: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
            for each in range(20):
                connection.request("POST", PATH, body=f"{number}-{each}")
                got = connection.getresponse().read().decode()
                if got != f"{number}-{each}":
                    wrong.append(got)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    assert wrong == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"POST %b HTTP/1.1\r\nX-Amzn-SageMaker-Custom-Attributes: a\nX-Evil: b\r\nContent-Length: 0\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nX-Amzn-SageMaker-Custom-Attributes: \xe9\r\nContent-Length: 0\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nX-Amzn-SageMaker-Custom-Attributes: " + b"x" * 1025 + b"\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n", 400),
        (b"POST %b HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"POST %b HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST %b HTTP/1.1\r\nX: " + b"x" * 70_000, 400),
        (b"rubbish\r\n\r\n", 400),
        (b"GET %b HTTP/1.1\r\n\r\n", 400),
        (b"POST /endpoints/other/invocations HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 404),
    ],
)
def test_bad_requests_are_refused(front: Any, raw: bytes, status: int) -> None:
    one, server = front()
    with closing(socket.create_connection(("127.0.0.1", one.port), timeout=60)) as connection:
        connection.sendall(
            raw.replace(b"%b", PATH.encode()).replace(b" HTTP/1.1\r\n", b" HTTP/1.1\r\nHost: localhost\r\n")
        )
        said = connection.recv(1000)
        assert said.startswith(b"HTTP/1.1 %d " % status)
        assert (b"\r\nConnection: close\r\n" in said) == (b"is not valid HTTP" in said)
    assert server.seen == []
    assert ask(one)[0] == 200


@pytest.mark.slow(0.5)
def test_a_client_that_waits_for_100_is_told_to_go_on(front: Any) -> None:
    one, _ = front()
    with closing(socket.create_connection(("127.0.0.1", one.port), timeout=60)) as connection:
        head = f"{BEGIN}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"ok")
        assert connection.recv(1000).endswith(b"ok")


@pytest.mark.slow(0.5)
def test_the_same_port_is_taken_again_if_it_is_free(front: Any) -> None:
    one, server = front()
    port = one.port
    assert ask(one)[0] == 200
    one.close()
    again = Front(identity=one.identity, limits=one.limits, port=port)
    again.start(lambda thread, error: pytest.fail(f"{thread}: {error}"))
    again.serve_from(("127.0.0.1", server.server_port))
    assert again.port == port
    other = Front(identity=one.identity, limits=one.limits, port=port)
    other.start(lambda thread, error: pytest.fail(f"{thread}: {error}"))
    assert other.port != port
    again.close()
    other.close()


def raw_answer(front: Front, request: bytes) -> bytes:
    """All that is answered until the connection ends; the client sends no more."""
    with closing(socket.create_connection(("127.0.0.1", front.port), timeout=60)) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        found = b""
        while piece := connection.recv(65536):
            found += piece
    return found


@pytest.mark.slow(0.5)
def test_requests_that_come_at_once_are_answered_in_their_order(front: Any) -> None:
    one, server = front()
    bodies = [b"%d" % number * 3 for number in range(10)]
    requests = [f"{BEGIN}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
    found = raw_answer(one, b"".join(requests))
    assert [part.partition(b"HTTP/1.1 ")[0] for part in found.split(b"\r\n\r\n")[1:]] == bodies
    assert [content for _, _, content in server.seen] == bodies


@pytest.mark.slow(0.5)
def test_a_client_of_http_1_0_gets_no_chunks(front: Any) -> None:
    def stream(container: Container) -> None:
        container.send_response(200)
        container.send_header("Transfer-Encoding", "chunked")
        container.end_headers()
        container.wfile.write(b"5\r\nfirst\r\n6;ignored=1\r\nsecond\r\n0\r\nTrailer: 1\r\n\r\n")

    one, _ = front(stream)
    found = raw_answer(one, f"POST {PATH} HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".encode())
    assert found.endswith(b"\r\nConnection: close\r\n\r\nfirstsecond")


@pytest.mark.slow(0.5)
def test_an_answer_without_a_length_ends_with_its_connection(front: Any) -> None:
    def unstated(container: Container) -> None:
        container.send_response(200)
        container.end_headers()
        container.wfile.write(b"all of it")
        container.close_connection = True

    one, server = front(unstated)
    assert [ask(one)[2], ask(one)[2]] == [b"all of it"] * 2
    assert len(server.ports) == 2


@pytest.mark.slow(0.5)
def test_a_streamed_answer_that_is_cut_short_is_cut_short_for_the_client(front: Any) -> None:
    def cut(container: Container) -> None:
        container.send_response(200)
        container.send_header("Transfer-Encoding", "chunked")
        container.end_headers()
        container.wfile.write(b"5\r\nfirst\r\n64\r\nhalf of")
        container.close_connection = True

    one, _ = front(cut)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(one)


@pytest.mark.slow(0.5)
def test_what_was_answered_is_kept_in_the_folder(front: Any, tmp_path: Path) -> None:
    def behave(container: Container) -> None:
        if container.content == b"cut":
            container.send_response(200)
            container.send_header("Transfer-Encoding", "chunked")
            container.end_headers()
            container.wfile.write(b"64\r\nhalf of")
            container.close_connection = True
        else:
            container.answer(b"no such feature", int(container.content))

    one, _ = front(behave, directory=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    for body in (b"200", b"200", b"500", b"200"):
        ask(one, body)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(one, b"cut")
    assert ask(one, b"x" * 1001)[0] == 413
    assert ask(one, b"200", "/endpoints/other/invocations")[0] == 404
    one.serve_from(None)
    assert ask(one)[0] == 503
    one.close()
    kept = read_invocations(str(tmp_path))
    assert (kept.total.requests, kept.total.errors, kept.total.times.total()) == (7, 4, 5)
    assert (kept.variants["Blue"].requests, kept.variants["Blue"].errors) == (5, 2)
    assert [(each["Variant"], each["Status"], each["Text"][:15]) for each in kept.errors] == [
        ("Blue", 500, "no such feature"),
        ("Blue", 200, "the answer of t"),
        ("", 413, "Request 1001 ha"),
        ("", 503, "the container i"),
    ]


@pytest.mark.slow(0.5)
def test_a_client_that_does_not_read_is_cut_off_when_its_time_is_over(front: Any) -> None:
    one, _ = front(lambda c: c.answer(b"x" * (64 << 20)), invocation=1.0)
    with closing(socket.create_connection(("127.0.0.1", one.port), timeout=60)) as connection:
        connection.sendall(f"{BEGIN}Content-Length: 0\r\n\r\n".encode())
        size = len(connection.recv(10))
        until(lambda: not one.clients)
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 20):
                size += len(piece)
    assert size < 64 << 20


@pytest.mark.slow(0.5)
def test_an_answer_before_the_whole_request_was_read_passes(front: Any) -> None:
    one, _ = front(lambda c: c.answer(b"early"), most=8 << 20)
    assert ask(one, b"x" * (8 << 20))[2] == b"early"


@pytest.mark.slow(0.5)
def test_a_container_that_does_not_listen_is_a_model_error(front: Any) -> None:
    one, _ = front()
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()
    one.serve_from(nobody)
    status, _, body = ask(one)
    assert (status, json.loads(body)["OriginalStatusCode"]) == (424, 0)
    assert "Connection refused" in json.loads(body)["OriginalMessage"]


@contextmanager
def no_more_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.linux("poll, with which tests stand in for macOS, takes no more than a process may open")
def test_without_more_files_an_invocation_fails_and_the_next_is_answered(
    front: Any, monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    def closes_on_bad(container: Container) -> None:
        if container.content == b"bad":
            container.close_connection = True
        else:
            echo(container)

    monkeypatch.setattr("smlocal.sagemaker.hosting.exchange._REST", 0.0)  # so a kept connection is replaced
    one, _ = front(closes_on_bad)
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:

        def asked(path: str, body: bytes) -> tuple[int, bytes]:
            connection.request("POST", path, body=body)
            answer = connection.getresponse()
            return answer.status, answer.read()

        assert asked(PATH if kept else "/other", b"1")[0] == (200 if kept else 404)
        with no_more_files():
            status, said = asked(PATH, b"bad")
        assert (status, "Too many open files" in said.decode()) == (503, True)
        assert asked(PATH, b"good") == (200, b"good")


@pytest.mark.slow(0.5)
def test_the_front_may_open_all_files_that_its_process_may(front: Any) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] // 2, before[1]))
    try:
        front()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow(0.5)
def test_containers_in_a_row_pass_on_answer_and_type(front: Any) -> None:
    one, first = front(lambda c: c.answer(c.content + b" first", Content_Type="text/first"))
    other, second = front(lambda c: c.answer(c.content + b" second", Content_Type="text/second"))

    class Both:
        def route(self, headers: Mapping[str, str]) -> Route:
            assert headers["x-other"] == "seen"
            places = [("127.0.0.1", each.server_port) for each in (first, second)]
            return Route(variant="Green", steps=tuple(Step(address=each) for each in places))

    one.routes = Both()
    _, headers, body = ask(one, b"body", Content_Type="text/csv", Accept="a/b", X_Other="seen")
    assert body == b"body first second"
    assert (headers["Content-Type"], headers["x-Amzn-Invoked-Production-Variant"]) == ("text/second", "Green")
    ((_, seen, _),) = second.seen
    assert {name.lower(): value for name, value in seen.items()}["content-type"] == "text/first"
    assert other.clients == set()


@pytest.mark.slow(0.5)
def test_no_bytes_end_the_front(front: Any) -> None:
    """Requests and answers that are damaged in every way are refused, and the next ones are answered."""
    chance = random.Random(7)
    good = f"{BEGIN}Content-Length: 3\r\nContent-Type: a/b\r\n\r\n1,2".encode()
    chunked = f"{BEGIN}Transfer-Encoding: chunked\r\n\r\n3\r\n1,2\r\n0\r\n\r\n".encode()

    def damaged(whole: bytes) -> bytes:
        at = chance.randrange(len(whole))
        rubbish = chance.choice([b"", b"\0", b"\r\n", b"\n", b":", b"9" * 5000, b"\xff", chance.randbytes(3)])
        return whole[:at] + rubbish + whole[at + chance.randrange(3) :]

    def answers(container: Container) -> None:
        if container.content == b"damage":
            container.wfile.write(damaged(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: a/b\r\n\r\n1,2"))
            container.close_connection = True
        else:
            echo(container)

    one, _ = front(answers, invocation=1.0)
    for number in range(150):
        raw_answer(one, damaged(good if number % 2 else chunked))
    for _ in range(50):
        with suppress(http.client.HTTPException, ConnectionError):
            ask(one, b"damage")
    assert ask(one, b"good")[::2] == (200, b"good")
