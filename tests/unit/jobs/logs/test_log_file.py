"""The log of a host with its times: kept, gone on with, rewritten, looked up."""

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.logs.log_file import LogFile, TimesFile, rewrite_log, times_path
from smlocal.jobs.logs.log_readers import LogTimes


@pytest.fixture
def log(tmp_path: Path) -> str:
    return f"{tmp_path}/logs/algo-1.log"


def times_of(log: str) -> LogTimes:
    times = LogTimes(times_path(log))
    times.renew()
    return times


def write_at(log: str, entries: list[tuple[int, float | None]]) -> None:
    os.makedirs(os.path.dirname(log), exist_ok=True)
    file = TimesFile(times_path(log))
    for position, at in entries:
        file.note(position, at)
    file.close()


def test_bytes_are_kept_and_have_times(log: str) -> None:
    file = LogFile(log)
    before = time.time()
    file.write(b"one\n")
    assert file.close() is None
    assert Path(log).read_bytes() == b"one\n"
    at, until = times_of(log).at(0)
    assert at is not None
    assert until is None
    assert before <= at <= time.time()


def test_a_restarted_job_goes_on_in_the_same_file(log: str) -> None:
    for piece in (b"first\n", b"second\n"):
        file = LogFile(log)
        file.write(piece)
        file.close()
    assert Path(log).read_bytes() == b"first\nsecond\n"
    assert times_of(log).at(0)[1] == 6


def test_a_folder_that_cannot_be_made_is_told_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    file = LogFile(f"{tmp_path}/logs/algo-1.log")
    file.write(b"lost")
    assert "logs" in str(file.close())


def test_a_times_file_that_cannot_be_made_disturbs_nothing(log: str) -> None:
    os.makedirs(times_path(log))
    file = LogFile(log)
    file.write(b"one\n")
    assert file.close() is None
    assert times_of(log).at(0) == (None, None)


def test_times_within_ten_milliseconds_are_one(log: str) -> None:
    write_at(log, [(0, 100.0), (5, 100.009), (9, 100.02), (12, 99.0)])
    times = times_of(log)
    assert [times.at(position) for position in (0, 8, 9, 12, 99)] == [
        (100.0, 9),
        (100.0, 9),
        (100.02, 12),
        (99.0, None),
        (99.0, None),
    ]


def test_times_that_nobody_knows_are_unknown(log: str) -> None:
    write_at(log, [(0, 100.0), (4, None), (6, None), (8, 200.0)])
    times = times_of(log)
    assert [times.at(position) for position in (3, 4, 7, 8)] == [(100.0, 4), (None, 8), (None, 8), (200.0, None)]
    assert times_of(f"{log}/no").at(0) == (None, None)


def test_half_an_entry_is_none(log: str) -> None:
    write_at(log, [(0, 100.0)])
    with open(times_path(log), "ab") as file:
        file.write(b"half")
    assert times_of(log).at(7) == (100.0, None)
    write_at(log, [(8, 200.0)])
    times = times_of(log)
    assert (times.at(7), times.at(8)) == ((100.0, 8), (200.0, None))


def test_times_are_found_while_they_come_and_when_they_are_replaced(log: str) -> None:
    write_at(log, [(0, 100.0)])
    times = times_of(log)
    assert times.at(5) == (100.0, None)
    write_at(log, [(9, 200.0)])
    assert times.at(8) == (100.0, 9)
    Path(log).write_bytes(b"0123456789")
    rewrite_log(log, 0, [(300.0, b"0123"), (400.0, b"456789ab")])
    times.renew()
    assert (times.at(9), times.at(11)) == ((400.0, None), (400.0, None))


def test_a_rewritten_log_keeps_what_earlier_attempts_wrote(log: str) -> None:
    write_at(log, [(0, 100.0), (6, 200.0)])
    Path(log).write_bytes(b"first\nsec")
    rewrite_log(log, 6, [(201.0, b"second\n"), (None, b"third\n")])
    assert Path(log).read_bytes() == b"first\nsecond\nthird\n"
    times = times_of(log)
    assert [times.at(position) for position in (0, 6, 13)] == [(100.0, 6), (201.0, 13), (None, None)]
    assert sorted(os.listdir(os.path.dirname(log))) == ["algo-1.log", "algo-1.times"]


def test_a_log_whose_engine_fails_stays_as_it_was(log: str) -> None:
    os.makedirs(os.path.dirname(log))
    Path(log).write_bytes(b"kept\n")

    def failing() -> "list[tuple[float | None, bytes]]":
        raise OSError(5, "gone")

    with pytest.raises(OSError, match="gone"):
        rewrite_log(log, 0, (each for each in failing()))
    assert Path(log).read_bytes() == b"kept\n"


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1e9)), min_size=1, max_size=30))
def test_a_time_is_never_that_of_later_bytes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, float]]
) -> None:
    log = f"{tmp_path_factory.mktemp('times')}/algo-1.log"
    position, entries = 0, []
    for length, at in steps:
        entries.append((position, at))
        position += length
    write_at(log, list(entries))
    times = times_of(log)
    for (start, at), (end, _) in pairwise([*entries, (position, 0.0)]):
        for each in range(start, end):
            found, until = times.at(each)
            assert found is not None
            assert abs(found - at) <= 0.0101
            assert until is None or until > each
