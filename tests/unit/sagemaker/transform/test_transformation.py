"""The work of a transform job, with a server in this process in place of a container."""

import gzip
import json
import random
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smlocal.sagemaker.transform.data_processing import Processing, RecordForm
from smlocal.sagemaker.transform.invoking import Invoker
from smlocal.sagemaker.transform.json_path import parse
from smlocal.sagemaker.transform.parameters import Parameters
from smlocal.sagemaker.transform.transformation import Transformation
from smlocal.terms.listing import Listing

Work = Callable[..., Transformation]
JSON: dict[str, Any] = {"records": RecordForm.JSON, "answers": RecordForm.JSON}
DAMAGED = gzip.compress(b"x")[:10] + b"\xff" * 20
"""The data begins with a block of no known kind."""
FILTERED = Processing(before=parse("$.x"), **JSON)
LARGE = gzip.compress(random.Random(1).randbytes(1 << 20))
"""Several pieces of a request in chunks."""


class Upper(BaseHTTPRequestHandler):
    """Answers in capitals, and refuses a body in chunks that is not whole."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        chunked = "Transfer-Encoding" in self.headers
        self.server.requests.append("chunks" if chunked else "length")  # type: ignore[attr-defined] # of `address`
        body = self._chunks() if chunked else self._body()
        if body is None:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.upper())

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _chunks(self) -> bytes | None:
        pieces = []
        while size := self.rfile.readline().strip():
            pieces.append(self.rfile.read(int(size, 16)))
            self.rfile.readline()
            if not pieces[-1]:
                return b"".join(pieces)
        return None

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def requests() -> list[str]:
    """How each request has its body."""
    return []


@pytest.fixture
def address(requests: list[str]) -> Iterator[tuple[str, int]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Upper) as server:
        server.requests = requests  # type: ignore[attr-defined] # read by `Upper`
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield "127.0.0.1", server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def work(tmp_path: Path, address: tuple[str, int]) -> Work:
    """All of a job's work, for these objects."""

    def make(files: Mapping[str, bytes], *, payload: int = 6, concurrent: int = 1, **more: Any) -> Transformation:
        (tmp_path / "data").mkdir()
        for name, content in files.items():
            (tmp_path / "data" / name).write_bytes(content)
        lines: list[str] = []
        return Transformation(
            listing=Listing(
                root=str(tmp_path / "data"),
                bucket_uri="file:///",
                prefix="data/",
                key_base="data/",
                paths=sorted(files),
                total_bytes=None,
                whole_tree=True,
            ),
            parameters=Parameters(
                strategy=more.pop("strategy", "SINGLE_RECORD"), concurrent=concurrent, payload=payload
            ),
            split=more.pop("split", "None"),
            gzip=more.pop("gzip", False),
            newline=False,
            processing=more.pop("processing", Processing()),
            invoker=Invoker(address=lambda: address, headers={}, seconds=60, retries=0, folder=str(tmp_path)),
            store=lambda: pytest.fail("nothing is in S3"),
            folder=str(tmp_path / "staged"),
            log=lines.append,
            **more,
        )

    return make


def outputs(work: Transformation) -> dict[str, bytes]:
    """What there is for each object."""
    files = {path: Path(work.output(index)) for index, path in enumerate(work.listing.paths)}
    return {path: file.read_bytes() for path, file in files.items() if file.exists()}


def failed(work: Transformation) -> list[str]:
    return [name.rpartition("/")[2] for name in work.counts.failed]


@pytest.mark.slow(0.5)
def test_each_object_has_its_answers(work: Work) -> None:
    done = work({"a": b"a\nb\n", "b": b"c\n"}, split="Line", concurrent=2)
    done.run()
    assert outputs(done) == {"a": b"A\nB\n", "b": b"C\n"}
    assert (done.counts.objects, done.counts.requests, done.counts.client) == (2, 3, None)


@pytest.mark.slow(1)
@pytest.mark.parametrize(
    ("files", "more", "records", "read", "lines", "written"),
    [
        ({"a": b"a\nb\n", "b": b"c"}, {"split": "Line"}, 3, 5, 2, 5),
        ({"a": b"a\nb\nc"}, {"split": "Line", "strategy": "MULTI_RECORD"}, 3, 5, 2, 5),
        ({"a": b"a\nb\nc", "empty": b""}, {"split": "Line", "strategy": "MULTI_RECORD", "payload": 0}, 3, 5, 2, 5),
        ({"a": b"a\nb\n", "b": b"c", "empty": b""}, {}, 2, 5, 2, 5),
        ({"a": b"a\nb\n", "b": b"c"}, {"payload": 0}, 2, 5, 2, 5),
        ({"a": b'{"x":"a"}\nno\n', "b": b'{"x":"b"}\n'}, {"split": "Line", "processing": FILTERED}, 3, 23, 1, 4),
    ],
    ids=["lines", "many lines", "lines in chunks", "objects", "objects in chunks", "one failed"],
)
def test_records_and_bytes_are_counted(
    work: Work, files: Mapping[str, bytes], more: dict[str, Any], records: int, read: int, lines: int, written: int
) -> None:
    """In what was read, and in what was written: an object that has failed has no output."""
    done = work(files, **more)
    done.run()
    counts = done.counts
    assert done.counts_records
    assert (counts.records, counts.read, counts.lines, counts.written) == (records, read, lines, written)
    assert len(counts.causes) == len(counts.failed)


@pytest.mark.slow(0.5)
def test_half_of_a_character_fails_its_object_only(work: Work) -> None:
    """A text of JSON can have one, and no bytes can. There are more records than are in memory at once."""
    half = json.dumps({"x": "\ud83d"}).encode() + b"\n"
    done = work({"a": half * 9, "b": b'{"x":"b"}\n'}, split="Line", processing=Processing(before=parse("$.x"), **JSON))
    done.run()
    assert (outputs(done), failed(done), done.counts.client) == ({"b": b'"B"\n'}, ["a"], True)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("split", ["None", "Line"])
def test_gzip_data_that_is_damaged_fails_its_object_only(work: Work, split: str) -> None:
    done = work({"a.gz": DAMAGED, "b.gz": gzip.compress(b"b\n")}, split=split, gzip=True)
    done.run()
    assert (outputs(done), failed(done), done.counts.client) == ({"b.gz": b"B\n"}, ["a.gz"], True)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("processing", "output"),
    [
        (Processing(), b'{"ID":1,"X":"A"}'),
        (Processing(before=parse("$.x"), by_line=False, **JSON), b'"A"'),
        (Processing(after=parse("$.X"), by_line=False, **JSON), b'"A"'),
        (Processing(join=True, by_line=False, **JSON), b'{"id":1,"x":"a","SageMakerOutput":{"ID":1,"X":"A"}}'),
    ],
    ids=["none", "before", "after", "join"],
)
def test_an_object_without_a_limit_is_filtered_and_joined_too(
    work: Work, processing: Processing, output: bytes
) -> None:
    done = work({"a": b'{"id":1,"x":"a"}'}, payload=0, processing=processing)
    done.run()
    assert outputs(done) == {"a": output}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "data", [DAMAGED, LARGE[: len(LARGE) // 2], LARGE[:-8] + bytes(8)], ids=["damaged", "cut", "wrong checksum"]
)
def test_an_object_in_chunks_that_cannot_be_read_is_to_blame_itself(work: Work, data: bytes) -> None:
    """The connection ends in the middle of a request, so the next object has another one."""
    done = work({"a.gz": data, "b.gz": gzip.compress(b"b\n")}, payload=0, gzip=True)
    done.run()
    assert (outputs(done), failed(done), done.counts.client) == ({"b.gz": b"B\n"}, ["a.gz"], True)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("split", ["None", "Line"])
def test_an_object_without_a_limit_is_sent_in_chunks(work: Work, requests: list[str], split: str) -> None:
    done = work({"a": b"a\n" * 9, "empty": b""}, payload=0, split=split, strategy="MULTI_RECORD")
    done.run()
    assert (outputs(done), done.counts.requests) == ({"a": b"A\n" * 9, "empty": b""}, 1)
    assert requests == ["chunks"]


@pytest.mark.slow(0.5)
def test_records_without_a_limit_are_sent_alone(work: Work, requests: list[str]) -> None:
    done = work({"a": b"a\n" * 9}, payload=0, split="Line", concurrent=4)
    done.run()
    assert (outputs(done), requests) == ({"a": b"A\n" * 9}, ["length"] * 9)


@pytest.mark.slow(1)
def test_large_records_without_a_limit_wait_for_those_before_them(work: Work) -> None:
    """Each of them leaves no room for another in memory."""
    large = b"a" * (60 << 20) + b"\n"
    done = work({"a": large * 2 + b"a\n"}, payload=0, split="Line", concurrent=4)
    done.run()
    assert outputs(done) == {"a": large.upper() * 2 + b"A\n"}


@pytest.mark.slow(0.5)
def test_a_streamed_object_that_is_no_recordio_fails_itself_only(work: Work) -> None:
    files = {"a": struct.pack("<II", 0xCED7230A, 3) + b"one\0" + b"not a record", "b": b""}
    done = work(files, payload=0, split="RecordIO", strategy="MULTI_RECORD")
    done.run()
    assert (outputs(done), failed(done), done.counts.client) == ({"b": b""}, ["a"], True)


GOOD, LONG = b'{"x": 1}\n', b"x" * (1 << 20)
MANY = "(BatchStrategy: SingleRecord would name one)"


@pytest.mark.slow(0.5, others=True)
@pytest.mark.parametrize(
    ("content", "more", "cause"),
    [
        (GOOD * 2 + b"no\n" + GOOD, {}, "a, record 3: Failed to parse input as JSON"),
        (GOOD * 2 + b"no", {"strategy": "MULTI_RECORD"}, f"a, records 1 to 3 {MANY}: "),
        (b"no\n", {"strategy": "MULTI_RECORD"}, "a, record 1: "),
        (GOOD + LONG + b"x", {"payload": 1}, "a, after record 1: Too much data for max payload size"),
        (LONG + b"x", {"payload": 1, "split": "None"}, "a: Too much data for max payload size"),
    ],
)
def test_the_record_that_fails_is_known(work: Work, content: bytes, more: dict[str, Any], cause: str) -> None:
    filtered = Processing(before=parse("$.x"), **JSON)
    done = work({"a": content, "b": b""}, **{"split": "Line", "processing": filtered, **more})
    done.run()
    assert done.counts.first.startswith(cause)
    assert done.counts.blank == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("strategy", ["SINGLE_RECORD", "MULTI_RECORD"])
def test_objects_of_blank_lines_are_noticed(work: Work, strategy: str) -> None:
    done = work({"a": b"\n \r\n\n", "b": b"\nx\n", "c": b"", "d": b"\n"}, split="Line", strategy=strategy)
    done.run()
    assert (done.counts.blank, failed(done)) == (["a", "d"], [])


@pytest.mark.slow(0.5)
def test_a_defect_ends_the_work(work: Work) -> None:
    """It is raised in the thread that is watched, once nothing waits for the others any more."""

    class Broken(Processing):
        def sent(self, payload: bytes) -> Iterator[bytes]:
            raise ZeroDivisionError(payload)

    done = work({"a": b"a\n" * 9, "b": b"b\n"}, split="Line", processing=Broken(before=parse("$[0]")))
    with pytest.raises(ZeroDivisionError):
        done.run()
    assert (outputs(done), failed(done)) == ({}, ["a"])
