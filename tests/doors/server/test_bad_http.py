"""Requests that are not valid HTTP, too much of it, or too slow."""

import json
import os
import socket
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.kit import until

from smlocal.base import web
from smlocal.endpoint.objects import object_headers, received

TARGET = "X-Amz-Target: SageMaker.ListTrainingJobs\r\nHost: 127.0.0.1\r\n"
FOR_S3 = "Host: 127.0.0.1\r\nAuthorization: AWS4-HMAC-SHA256 Credential=k/20261123/us-east-1/s3/aws4_request\r\n"


@pytest.fixture
def port(endpoint: Any) -> int:
    return urlsplit(endpoint.address).port or 0


@pytest.fixture
def folder(endpoint: Any) -> Path:
    endpoint.client("s3").create_bucket(Bucket="data")
    return Path(endpoint.serving.buckets)


def connected(port: int) -> Any:
    return closing(socket.create_connection(("127.0.0.1", port), timeout=60))


def answer(port: int, request: bytes) -> bytes:
    """All that comes back until the server closes the connection, or the answer is complete."""
    with connected(port) as connection:
        with suppress(ConnectionError):  # the server may refuse before it has read all
            connection.sendall(request)
        connection.settimeout(200)
        got = b""
        try:
            while piece := connection.recv(65536):
                got += piece
                if b"\r\n\r\n" in got and not _left(got):
                    break
        except ConnectionError:
            pass
        return got


def _left(got: bytes) -> bool:
    head, _, body = got.partition(b"\r\n\r\n")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return not length or len(body) < int(length[0].split(b":")[1])


def is_open(file: Path) -> bool:
    """Whether this process, in which the server runs, has it open."""
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # of another thread, and closed meanwhile
            if descriptor.readlink() == file:
                return True
    return False


def drip(connection: Any, data: bytes) -> None:
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def still_answers(endpoint: Any) -> None:
    assert endpoint.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] == []


def test_ten_thousand_headers(endpoint: Any, port: int) -> None:
    headers = "".join(f"X-{number}: 1\r\n" for number in range(10_000))
    got = answer(port, f"POST / HTTP/1.1\r\n{TARGET}{headers}Content-Length: 2\r\n\r\n{{}}".encode())
    assert got.startswith(b"HTTP/1.1 431")
    still_answers(endpoint)


@pytest.mark.parametrize(
    "lengths",
    [
        "Content-Length: 2\r\nContent-Length: 40\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +2\r\n",
        "Content-Length : 2\r\n",
        "Transfer-Encoding:\x0bchunked\r\n",
    ],
)
def test_smuggled_lengths_make_no_second_request(endpoint: Any, port: int, lengths: str) -> None:
    inner = f"POST / HTTP/1.1\r\n{TARGET}Content-Length: 2\r\n\r\n{{}}"
    body = f"0\r\n\r\n{inner}"
    got = answer(port, f"POST / HTTP/1.1\r\n{TARGET}{lengths}\r\n{body}".encode())
    assert got.count(b"HTTP/1.1 ") <= 1, got
    assert b"HTTP/1.1 5" not in got
    still_answers(endpoint)


LISTED = f"POST / HTTP/1.1\r\n{TARGET}Content-Length: 2\r\n\r\n{{}}"
CHUNKED = LISTED.replace("Content-Length: 2", "Transfer-Encoding: chunked").replace("{}", "2\r\n{}\r\n0\r\n\r\n")
TWO_WAYS = {
    "folded": LISTED.replace("Host:", "X: a\r\n b\r\nHost:"),
    "folded by a tab": LISTED.replace("Host:", "X: a\r\n\tb\r\nHost:"),
    "folded encoding": CHUNKED.replace(": chunked", ":\r\n chunked"),
    "LF": LISTED.replace("\r\nHost", "\nHost"),
    "LF after the first line": LISTED.replace("\r\n", "\n", 1),
    "LF at the end": LISTED.replace("\r\n\r\n", "\r\n\n"),
    "only LF": LISTED.replace("\r\n", "\n"),
    "a list of lengths": LISTED.replace(": 2", ": 2, 2"),
    "a list of lengths without spaces": LISTED.replace("Content-Length: 2", "content-length:2,2"),
    "HTTP/1.0": CHUNKED.replace("1.1", "1.0"),
}


@pytest.mark.parametrize("before", ["", LISTED], ids=["first", "after another"])
@pytest.mark.parametrize("request_", TWO_WAYS.values(), ids=TWO_WAYS)
def test_what_could_be_read_in_two_ways_is_refused(endpoint: Any, port: int, request_: str, before: str) -> None:
    with connected(port) as connection:
        connection.sendall(f"{before}{request_}".encode())
        got = b""
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                got += piece
    answers = got.split(b"HTTP/1.1 ")[1:]
    assert [each[:3] for each in answers] == [b"200"] * bool(before) + [b"400"]
    assert b"connection: close\r\n" in answers[-1].lower()
    still_answers(endpoint)


def test_a_request_that_comes_byte_by_byte_is_read_in_one_way(port: int) -> None:
    for request in (LISTED, CHUNKED):
        with connected(port) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in request.encode():
                connection.sendall(bytes([byte]))
            assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("chunks", ["0\r\n\n", "0\r\nX: a\n\n", "0\r\nX: a\n\r\n", "2;a\nb\r\n{}\r\n0\r\n\r\n"])
def test_chunks_with_a_line_without_its_end(endpoint: Any, port: int, chunks: str) -> None:
    inner = LISTED if chunks.startswith("0") else ""
    got = answer(port, f"{CHUNKED.partition('2')[0]}{chunks}{inner}".encode())
    assert got.startswith(b"HTTP/1.1 400"), got
    assert got.count(b"HTTP/1.1 ") == 1
    still_answers(endpoint)


@pytest.mark.slow(1)
def test_a_hundred_megabytes_for_a_call(endpoint: Any, port: int) -> None:
    before = _resident()
    body = b"{" + b" " * (100 << 20)
    head = f"POST / HTTP/1.1\r\n{TARGET}Content-Length: {len(body)}\r\n\r\n".encode()
    assert answer(port, head).startswith(b"HTTP/1.1 413")
    chunked = f"POST / HTTP/1.1\r\n{TARGET}Transfer-Encoding: chunked\r\n\r\n".encode()
    pieces = b"".join(b"%x\r\n%s\r\n" % (1 << 20, body[: 1 << 20]) for _ in range(100))
    got = answer(port, chunked + pieces)
    assert got.startswith(b"HTTP/1.1 413") or got == b""
    del body, pieces
    assert _resident() - before < 300 << 20
    still_answers(endpoint)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_head_of_one_byte_a_moment_is_cut_off(endpoint: Any, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "HEAD_SECONDS", 1.0)
    with connected(port) as connection, pytest.raises(ConnectionError):
        drip(connection, b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 1000)
    still_answers(endpoint)


def test_a_body_that_comes_slowly_is_cut_off_and_leaves_nothing(
    endpoint: Any, port: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(received, "_WINDOW_SECONDS", 1.0)
    with connected(port) as connection:
        connection.sendall(f"PUT /data/k HTTP/1.1\r\n{FOR_S3}Content-Length: 1000000\r\n\r\n".encode())
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(connection.recv(65536)))
        reader.start()
        for _ in range(200):
            if got:
                break
            with suppress(ConnectionError):  # it may have been cut off already
                connection.sendall(b"x")
            time.sleep(0.05)
        reader.join(200)
    assert got[0].startswith(b"HTTP/1.1 408")
    until(lambda: not list((folder / ".smlocal" / "data" / "partial").iterdir()))
    assert list((folder / "data").iterdir()) == []
    still_answers(endpoint)


def test_clients_that_vanish_in_the_middle_of_a_body_leave_nothing(endpoint: Any, port: int, folder: Path) -> None:
    heads = [
        f"PUT /data/k HTTP/1.1\r\n{FOR_S3}Content-Length: 9000000\r\n\r\n",
        f"PUT /data/k HTTP/1.1\r\n{FOR_S3}Content-Encoding: aws-chunked\r\nContent-Length: 9000000\r\n\r\n200000\r\n",
        f"POST / HTTP/1.1\r\n{TARGET}Content-Length: 5000000\r\n\r\n",
    ]
    partial = folder / ".smlocal" / "data" / "partial"
    for head in heads:
        with connected(port) as connection:
            connection.sendall(head.encode() + b"x" * 1_500_000)
            if head.startswith("PUT"):
                until(lambda: any(partial.glob("*")))
        until(lambda: not any(partial.glob("*")))
    assert list((folder / "data").iterdir()) == []
    still_answers(endpoint)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/data/../../../etc/passwd",
        "/data/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/.smlocal/data/lock",
        "/..%00/x",
        "//etc/passwd",
        "/data/%ff",
        "/data%2f..%2f..%2fjobs.sqlite",
        "*",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
def test_paths_that_lead_out_of_a_bucket(endpoint: Any, port: int, folder: Path, path: str, method: str) -> None:
    (folder / "data" / "stays").write_text("1")
    before = {each: each.stat().st_mtime_ns for each in folder.parent.rglob("*") if each.is_file()}
    got = answer(port, f"{method} {path} HTTP/1.1\r\n{FOR_S3}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
    status = int(got.split(b" ", 2)[1])
    assert 400 <= status < 500 or status == 501 or (method == "DELETE" and status == 204), got
    assert b"root:" not in got
    after = {each: each.stat().st_mtime_ns for each in folder.parent.rglob("*") if each.is_file()}
    assert {
        each for each in before.keys() ^ after.keys() if "partial" not in each.parts and each.name != "lock"
    } == set()
    still_answers(endpoint)


def test_what_is_no_json(port: int) -> None:
    body = "[" * 100_000
    got = answer(port, f"POST / HTTP/1.1\r\n{TARGET}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    assert json.loads(got.partition(b"\r\n\r\n")[2])["__type"] == "SerializationException"


@pytest.mark.parametrize(
    "body",
    [
        "not xml",
        '<!DOCTYPE a [<!ENTITY b "c">]><Delete><Object><Key>&b;</Key></Object></Delete>',
        "<Delete></Delete>",
        "<Other><Object><Key>k</Key></Object></Other>",
    ],
)
def test_what_is_no_xml_that_s3_asks_for(endpoint: Any, port: int, folder: Path, body: str) -> None:
    assert folder.is_dir()
    got = answer(port, f"POST /data?delete HTTP/1.1\r\n{FOR_S3}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    assert b"<Code>MalformedXML</Code>" in got
    still_answers(endpoint)


@pytest.mark.parametrize(
    "chunks", ["zz\r\n", "-1\r\n", "5;x=1\r\nhelloXX", "5\r\nhel", "0\r\n\r\nmore\r\n", "f" * 9000]
)
def test_chunks_that_are_none(port: int, folder: Path, chunks: str) -> None:
    head = f"PUT /data/k HTTP/1.1\r\n{FOR_S3}Content-Encoding: aws-chunked\r\nX-Amz-Decoded-Content-Length: 5\r\n"
    got = answer(port, f"{head}Content-Length: {len(chunks)}\r\n\r\n{chunks}".encode())
    assert got.startswith(b"HTTP/1.1 400"), got
    assert list((folder / "data").iterdir()) == []


def test_a_client_that_reads_nothing_is_cut_off(
    endpoint: Any, port: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_headers, "_SEND_SECONDS", 1.0)
    with (folder / "data" / "large").open("wb") as file:
        file.truncate(200 << 20)
    with connected(port) as connection:
        connection.sendall(f"GET /data/large HTTP/1.1\r\n{FOR_S3}\r\n".encode())
        until(lambda: is_open(folder / "data" / "large"))
        until(lambda: not is_open(folder / "data" / "large"))
        came = 0
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 20):
                came += len(piece)
    assert 0 < came < 100 << 20
    assert endpoint.said == []
    still_answers(endpoint)
