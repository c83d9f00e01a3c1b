import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.logs.log_file import ENTRY
from smlocal.jobs.logs.log_readers import LogTimes, TimesIndex, in_milliseconds

_TIMES = st.one_of(st.floats(1e9, 2e9), st.just(math.nan))


@given(steps=st.lists(st.tuples(st.integers(0, 3), _TIMES), max_size=40), asked=st.lists(st.integers(0, 130)))
def test_times_are_those_of_a_reader_from_the_beginning(
    tmp_path_factory: object, steps: list[tuple[int, float]], asked: list[int]
) -> None:
    path = Path(tmp_path_factory.mktemp("times")) / "times"  # type: ignore[attr-defined] # a fixture of pytest's
    position, entries = 0, []
    for step, at in steps:
        position += step
        entries.append((position, at))
    path.write_bytes(b"".join(ENTRY.pack(*entry) for entry in entries))

    index = TimesIndex(str(path))
    for where in asked:
        reader = LogTimes(str(path))
        reader.renew()
        expected, _ = reader.at(where)
        reader.close()
        if expected is not None:
            assert index.at(where) == expected
    index.close()


def test_positions_are_found_by_time_in_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "times"
    path.write_bytes(b"".join(ENTRY.pack(10 * number, 1000 + number / 64) for number in range(5000)))
    index = TimesIndex(str(path))

    assert len(index) == 5000
    for number in (0, 1, 511, 512, 513, 4999):
        at = in_milliseconds(1000 + number / 64)
        assert index.first_position(at) == 10 * number
    assert index.first_position(0) == 0
    assert index.first_position(in_milliseconds(1e9)) is None
    assert index.at(49_989) == 1000 + 4998 / 64
    assert index.at(5) == 1000
    index.close()


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    index = TimesIndex(str(tmp_path / "absent"))
    assert (len(index), index.at(0), index.first_position(0)) == (0, None, None)
    index.close()
