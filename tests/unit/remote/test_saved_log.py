"""Logs in files: plain text, and what the AWS CLI prints."""

import json
import os
from pathlib import Path

import pytest

from smlocal.errors import LogFileError
from smlocal.remote.saved_log import saved_log


def test_plain_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(100)) + b"\xff last")
    found = saved_log(str(log))
    assert list(found.lines) == [""]
    assert (found.lines[""][0], found.lines[""][-1], len(found.lines[""])) == ("line 81", "� last", 20)


def test_only_the_end_of_a_large_text_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(3 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    assert saved_log(str(log)).lines[""][-1] == "the end"


def test_what_aws_logs_tail_prints(tmp_path: Path) -> None:
    log = tmp_path / "log"
    at = "2026-11-23T13:24:45.123000+00:00"
    log.write_text(f"{at} job/algo-1-1700000000 one\n{at} job/algo-2-1700000001 two\nmore of two\n")
    assert saved_log(str(log)).lines == {"algo-1": ["one"], "algo-2": ["two", "more of two"]}


def test_events_by_stream_and_time(tmp_path: Path) -> None:
    events = [
        {"logStreamName": "job/algo-1-17", "timestamp": 2, "message": "second\nthird"},
        {"logStreamName": "job/algo-1-17", "timestamp": 1, "message": "first"},
        {"logStreamName": "job/algo-2-17", "timestamp": 1, "message": "other"},
    ]
    log = tmp_path / "log"
    log.write_text(json.dumps({"events": events, "searchedLogStreams": []}))
    assert saved_log(str(log)).lines == {"algo-1": ["first", "second", "third"], "algo-2": ["other"]}
    log.write_text(json.dumps({"events": [{"message": "x"}]}))
    assert saved_log(str(log)).lines == {"": ["x"]}


def test_a_text_that_begins_like_a_document(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"loss": 1}\n{"loss": 2}\n')
    assert saved_log(str(log)).lines == {"": ['{"loss": 1}', '{"loss": 2}']}


@pytest.mark.parametrize("content", ["", "\n"])
def test_nothing(tmp_path: Path, content: str) -> None:
    log = tmp_path / "log"
    log.write_text(content)
    found = saved_log(str(log))
    assert found.of("algo-1") in ((), [""])


@pytest.mark.parametrize("document", [{"jobs": []}, {"events": "x"}, {"events": [1]}])
def test_a_document_of_something_else(tmp_path: Path, document: object) -> None:
    log = tmp_path / "log"
    log.write_text(json.dumps(document))
    with pytest.raises(LogFileError, match="without log events"):
        saved_log(str(log))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(LogFileError):
            saved_log(str(path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(LogFileError, match="not a regular file"):
        saved_log(str(tmp_path / "fifo"))
