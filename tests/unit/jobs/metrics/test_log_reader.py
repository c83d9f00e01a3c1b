"""A log is read in whole lines, whatever pieces it comes in."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.logs.log_file import TimesFile, rewrite_log, times_path
from smlocal.jobs.logs.log_readers import LogReader
from smlocal.terms.log_view import view_of


class Log:
    """A log with times of our own choice."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "algo-1.log")
        Path(self.path).touch()
        self.times = TimesFile(times_path(self.path))

    def write(self, data: bytes, at: float | None = 100.0) -> None:
        self.times.note(os.path.getsize(self.path), at)
        with open(self.path, "ab") as log:
            log.write(data)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_lines_come_when_they_are_whole(log: Log) -> None:
    log_reader = LogReader(log.path)
    assert list(log_reader.new_lines()) == []
    log.write(b"one\ntw")
    assert list(log_reader.new_lines()) == [("one\n", 100.0)]
    log.write(b"o\n")
    assert list(log_reader.new_lines()) == [("two\n", 100.0)]
    log.write(b"no end")
    assert list(log_reader.new_lines()) == []
    assert list(log_reader.new_lines(last=True)) == [("no end\n", 100.0)]
    assert list(log_reader.new_lines(last=True)) == []


def test_a_line_came_when_its_first_byte_did(log: Log) -> None:
    log_reader = LogReader(log.path)
    log.write(b"a\nb", 100.0)
    log.write(b"b\nc\n", 200.0)
    log.write(b"d\ne\n", None)
    log.write(b"f", 300.0)
    log.write(b"f", 400.0)
    assert list(log_reader.new_lines(last=True)) == [
        ("a\nbb\n", 100.0),
        ("c\n", 200.0),
        ("d\ne\n", None),
        ("ff\n", 300.0),
    ]


def test_a_log_that_is_not_there_yet_has_no_lines(tmp_path: Path) -> None:
    assert list(LogReader(f"{tmp_path}/none.log").new_lines(last=True)) == []


def test_a_log_may_be_replaced_by_a_longer_one(log: Log) -> None:
    log_reader = LogReader(log.path)
    log.write(b"one\ntw")
    assert list(log_reader.new_lines()) == [("one\n", 100.0)]
    rewrite_log(log.path, 0, [(50.0, b"one\n"), (60.0, b"two\n"), (70.0, b"three\n")])
    assert list(log_reader.new_lines()) == [("two\n", 60.0), ("three\n", 70.0)]


@pytest.mark.parametrize("before", [b"", b"first\n"])
def test_a_line_of_fifty_megabytes_is_cut_and_the_next_is_not(log: Log, before: bytes) -> None:
    log.write(before)
    for _ in range(50):
        log.write(b"z" * 1_000_000)
    log.write(b"v=1\nnext\n", 200.0)
    log_reader = LogReader(log.path)
    found = list(log_reader.new_lines(last=True))
    assert "".join(lines for lines, _ in found).replace("z", "") == before.decode() + "\nnext\n"
    assert found[-1] == ("next\n", 200.0)
    assert max(len(lines) for lines, _ in found) <= 2**20 + 1 + len(before)


@given(st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"\x00", b"\n")), max_size=20), st.data())
def test_nothing_is_lost_or_read_twice(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], data: st.DataObject
) -> None:
    log = Log(tmp_path_factory.mktemp("log_reader"))
    log_reader, found = LogReader(log.path), ""
    for number, piece in enumerate(pieces):
        log.write(piece, float(number))
        if data.draw(st.booleans()):
            found += "".join(lines for lines, _ in log_reader.new_lines())
    found += "".join(lines for lines, _ in log_reader.new_lines(last=True))
    everything = b"".join(pieces)
    if everything and not everything.endswith(b"\n"):
        everything += b"\n"
    assert found == view_of(everything)
