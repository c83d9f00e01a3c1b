import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.logs import host_log
from smlocal.endpoint.logs.host_log import HostLog, LogEvent
from smlocal.jobs.logs.log_file import ENTRY

BEGAN = 1_790_000_000.0
Write = Callable[..., Path]


def write(folder: Path, *pieces: tuple[float, bytes]) -> Path:
    """Pieces with their seconds after the beginning."""
    log, times = folder / "algo-1.log", folder / "algo-1.times"
    position, entries = 0, b""
    for after, piece in pieces:
        entries += ENTRY.pack(position, BEGAN + after)
        position += len(piece)
    log.write_bytes(b"".join(piece for _, piece in pieces))
    times.write_bytes(entries)
    return log


def read(log: Path, *, complete: bool = True, after: float = 1000.0) -> list[LogEvent]:
    with HostLog(str(log), complete=complete, created=BEGAN, now=BEGAN + after) as opened:
        return list(opened.events(0, opened.end))


def messages(log: Path, **when: object) -> list[str]:
    return [event.message for event in read(log, **when)]  # type: ignore[arg-type] # passed on


def test_lines_that_begin_with_a_space_or_are_empty_belong_to_the_event_before(tmp_path: Path) -> None:
    log = write(tmp_path, (0, b"{\n  1\n}\n\nnext\n\ttab\n"))
    assert messages(log) == ["{\n  1", "}\n", "next", "#011tab"]


def test_what_comes_later_is_not_joined_and_an_event_without_text_is_none(tmp_path: Path) -> None:
    log = write(tmp_path, (0, b"a\n"), (0.1, b" b\n"), (0.4, b" c\n"), (5, b"\n"), (6, b"d\n"))
    assert [(event.message, event.timestamp - int(BEGAN * 1000)) for event in read(log)] == [
        ("a\n b", 0),
        (" c", 400),
        ("d", 6000),
    ]


def test_a_line_without_an_end_and_a_young_event_wait(tmp_path: Path) -> None:
    log = write(tmp_path, (0, b"old\n"), (9.9, b"young\n"), (9.95, b"half"))
    assert messages(log, complete=False, after=10) == ["old"]
    assert messages(log, complete=False, after=11) == ["old", "young"]
    assert messages(log, complete=True, after=10) == ["old", "young", "half"]


def test_a_line_longer_than_an_event_is_cut_between_characters(tmp_path: Path) -> None:
    log = write(tmp_path, (0, b"x" + "\u20ac".encode() * 100_000 + b"\nend\n"))
    events = read(log)
    assert [len(event.message) for event in events[:-1]] == [87_382, 12_619]
    assert events[-1].message == "end"
    assert "\ufffd" not in "".join(event.message for event in events)


def test_events_are_found_by_time(tmp_path: Path) -> None:
    log = write(tmp_path, *((number / 2, b"line %d\n" % number) for number in range(100)))
    with HostLog(str(log), complete=True, created=BEGAN, now=BEGAN) as opened:
        for number in (0, 1, 57, 99):
            begin = opened.first_at(int((BEGAN + number / 2) * 1000))
            assert next(opened.events(begin, opened.end)).message == f"line {number}"
        assert opened.first_at(int((BEGAN + 50) * 1000)) == opened.end


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a small log reaches."""
    monkeypatch.setattr(host_log, "_LONGEST", 16)
    monkeypatch.setattr(host_log, "_PIECE", 64)


_LINE = st.builds(
    lambda indent, text, end: indent + text.encode() + end,
    st.sampled_from([b"", b" "]),
    st.text("ab\u20ac", max_size=12),
    st.sampled_from([b"\n"] * 9 + [b""]),
)
_PIECES = st.lists(st.tuples(st.sampled_from([0.0, 0.011, 0.15, 0.25, 3.0]), _LINE), max_size=25)


@pytest.mark.usefixtures("short")
@given(pieces=_PIECES, limit=st.integers(1, 7), stop_at=st.integers(0, 25))
def test_events_stay_as_they_were_wherever_a_reader_begins_while_the_log_grows(
    pieces: list[tuple[float, bytes]], limit: int, stop_at: int
) -> None:
    after, timed = 0.0, []
    for pause, line in pieces:
        after += pause
        timed.append((after, line))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        final = read(write(folder, *timed))
        # Read while it grows: what was seen does not change.
        early = timed[:stop_at]
        seen = read(write(folder, *early), complete=False, after=early[-1][0] if early else 0.0)
        assert seen == final[: len(seen)]

        log = write(folder, *timed)
        with HostLog(str(log), complete=True, created=BEGAN, now=BEGAN) as opened:
            # Backwards, page by page.
            stop = opened.end
            backwards: list[LogEvent] = []
            while page := opened.events_before(0, stop, limit=limit, size=1 << 20):
                backwards = page + backwards
                stop = page[0].begin
            assert backwards == final
            content = log.read_bytes()
            cut = any(content[event.begin - 1 : event.begin] not in {b"", b"\n"} for event in final)
            # From each event on, and from each time on.
            for index, event in enumerate(final):
                assert list(opened.events(event.begin, opened.end)) == final[index:]
                if cut:
                    continue  # a time within a line is not found
                begin = opened.first_at(event.timestamp)
                since = [each for each in final if each.timestamp >= event.timestamp]
                assert list(opened.events(begin, opened.end)) == since
