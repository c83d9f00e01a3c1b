import json
import math
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.engine.http import Answer, BrokenAnswerError, CallLimit, exchange, query, quote

Talk = Callable[..., Answer]


def no_limit() -> CallLimit:
    return CallLimit(pause=60, total=math.inf, quiet=math.inf, still=lambda: None)


@pytest.fixture
def talk() -> Iterator[Talk]:
    """Have the other side send these pieces, after having read the request's head, and close."""
    answers: list[Answer] = []
    threads: list[threading.Thread] = []

    def start(*pieces: bytes, method: str = "GET", body: bytes | None = None) -> Answer:
        here, there = socket.socketpair()

        def serve() -> None:
            with there:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += there.recv(65536)
                for piece in pieces:
                    there.sendall(piece)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        answers.append(exchange(here, method, "/x", limit=no_limit(), body=body))
        return answers[-1]

    yield start
    for answer in answers:
        answer.close()
    for thread in threads:
        thread.join()


def one_by_one(data: bytes) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def test_what_is_sent() -> None:
    here, there = socket.socketpair()
    there.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    with exchange(here, "POST", "/a?b=c", limit=no_limit(), headers={"X-Y": "z"}, body=b"{}") as answer, there:
        assert there.recv(65536) == (
            b"POST /a?b=c HTTP/1.1\r\nHost: docker\r\nConnection: close\r\nX-Y: z\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert answer.read() == b""


def test_pieces_of_a_body_become_chunks() -> None:
    here, there = socket.socketpair()
    there.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    large = b"x" * 65536
    with there, ThreadPoolExecutor() as pool:  # a body may be longer than what a socket holds unread
        reading = pool.submit(lambda: b"".join(iter(lambda: there.recv(65536), b"")))
        exchange(here, "PUT", "/", limit=no_limit(), body=iter((b"short", b"", large))).close()
        _, _, body = reading.result().partition(b"\r\n\r\n")
    assert body == b"5\r\nshort\r\n10000\r\n" + large + b"\r\n0\r\n\r\n"


def test_a_body_with_a_length(talk: Talk) -> None:
    answer = talk(*one_by_one(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello"))
    assert (answer.status, answer.headers["x-a"], answer.read()) == (200, "b", b"hello")


def test_a_body_in_chunks(talk: Talk) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = talk(*one_by_one(head + b"5;x=y\r\nhello\r\nA\r\n, world!!!\r\n0\r\nTrailer: x\r\n\r\n"))
    assert answer.read() == b"hello, world!!!"


def test_a_long_body_comes_in_pieces(talk: Talk) -> None:
    size = 1_000_000
    answer = talk(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode(), b"x" * size)
    pieces = list(answer.pieces())
    assert len(pieces) > 1
    assert b"".join(pieces) == b"x" * size


def test_a_body_until_the_end(talk: Talk) -> None:
    assert talk(b"HTTP/1.0 200 OK\r\n\r\nall ", b"of it").read() == b"all of it"


def test_lines_come_whole(talk: Talk) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = talk(head + b"3\r\na\nb\r\n4\r\nb\nc\n\r\n1\r\nd\r\n0\r\n\r\n")
    assert list(answer.lines()) == [b"a", b"bb", b"c", b"d"]


def test_interim_answers_are_skipped_and_an_upgrade_is_not(talk: Talk) -> None:
    assert talk(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").read() == b"ok"
    answer = talk(b"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nraw")
    assert (answer.status, b"".join(answer.rest())) == (101, b"raw")


def test_an_empty_body_is_no_document(talk: Talk) -> None:
    assert talk(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").json() is None


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1",
        b"HTTP/1.1 200",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nHeader: unfinished",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nnot JSON",
    ],
)
def test_rubbish_is_named_and_ends(talk: Talk, sent: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        talk(sent).json()


def test_a_refusal_in_the_middle_of_a_long_body_is_read(talk: Talk) -> None:
    refusal = b'HTTP/1.1 404 Not Found\r\nContent-Length: 17\r\n\r\n{"message":"no"}\n'
    answer = talk(refusal, method="PUT", body=b"x" * 4_000_000)
    assert (answer.status, answer.json()) == (404, {"message": "no"})


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8"))))
def test_queries_can_be_read_back(parameters: dict[str, str]) -> None:
    from urllib.parse import parse_qsl

    assert (
        dict(parse_qsl(query(parameters).removeprefix("?"), keep_blank_values=True, strict_parsing=True))
        == (parameters)
        if parameters
        else query(parameters) == ""
    )


def test_a_filter_and_a_name_are_quoted() -> None:
    assert query({"filters": json.dumps({"label": ["a=b c"]})}) == (
        "?filters=%7B%22label%22%3A%20%5B%22a%3Db%20c%22%5D%7D"
    )
    assert quote("reg:5000/a/b@sha256:0") == "reg%3A5000/a/b%40sha256%3A0"
