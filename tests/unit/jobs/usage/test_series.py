"""The file of a host's usage: read while it is written, cut off by crashes, taken up again."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.usage.series import SeriesFile, parse_series, read_series
from smlocal.jobs.usage.usage_watch import series_path
from smlocal.terms.usage import ContainerUsage, Point


def point(at: float = 101.25, **numbers: Any) -> Point:
    return Point(
        **{
            "at": at,
            "cpu_seconds": 1.5,
            "cpu_cores": 1.25,
            "memory": 1 << 33,
            "memory_with_cache": 1 << 34,
            "disk_read": 0,
            "disk_written": 7,
            "network_received": None,
            "network_sent": None,
            "gpu_percent": None,
            "gpu_memory": None,
            **numbers,
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(series_path(str(tmp_path), "algo-1"))


def test_what_was_written_can_be_read(path: Path) -> None:
    file = SeriesFile(str(path))
    file.begin("one", 100.5)
    file.add(point(gpu_percent=99, gpu_memory=5))
    file.add(point(102))
    file.note("the engine said:\nno")
    file.hold({"/opt/ml/model": 4096, "/a b": 1, "/unread": None})
    series = read_series(str(path))
    assert series.containers == (ContainerUsage(began=100.5, points=(point(gpu_percent=99, gpu_memory=5), point(102))),)
    assert series.notes == ("the engine said: no",)
    assert series.held == {"/opt/ml/model": 4096, "/a b": 1, "/unread": None}


def test_a_container_that_is_taken_up_goes_on_and_a_new_one_begins_anew(path: Path) -> None:
    SeriesFile(str(path)).begin("one", 100)
    SeriesFile(str(path)).add(point(101))
    later = SeriesFile(str(path))
    later.begin("one", 100.02)
    later.add(point(105))
    later.hold({"/opt/ml/model": 1})
    later.begin("two", 110)
    later.add(point(111))
    series = read_series(str(path))
    assert [(c.began, len(c.points)) for c in series.containers] == [(100, 2), (110, 1)]
    assert series.held == {}
    assert len(series.points) == 3


def test_points_without_their_container_are_read(path: Path) -> None:
    SeriesFile(str(path)).add(point(101))
    assert read_series(str(path)).containers == (ContainerUsage(began=101, points=(point(101),)),)


def test_a_program_for_tables_can_read_it(path: Path) -> None:
    file = SeriesFile(str(path))
    file.begin("one", 100)
    file.add(point())
    head, _, row = path.read_text().splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["memory"] == str(1 << 33)


@given(st.integers(0, 400))
def test_a_crash_costs_at_most_the_last_line(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "algo-1.csv"
    file = SeriesFile(str(path))
    file.begin("one", 100)
    for second in range(1, 6):
        file.add(point(100 + second))
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    before = len(read_series(str(path)).points)
    assert before == sum(line.startswith(b"1") for line in whole[:cut].splitlines(keepends=True) if line[-1:] == b"\n")
    SeriesFile(str(path)).add(point(200))
    points = read_series(str(path)).points
    assert points[-1] == point(200)
    assert len(points) - before in {1, 2}  # a last line that lacked nothing but its end is one too


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40)))
def test_no_line_is_too_odd(lines: list[str]) -> None:
    parse_series(["1", "1,2", "# {}", "# []", "# 1", '# {"container": 1}', '# {"held": 1}', "# {", *lines])


def test_a_place_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "usage").write_text("")
    file = SeriesFile(series_path(str(tmp_path), "algo-1"))
    file.begin("one", 100)
    file.add(point())
    assert (tmp_path / "usage").read_text() == ""


def test_nothing_is_made_before_there_is_something_to_write(path: Path) -> None:
    SeriesFile(str(path))
    assert not path.parent.exists()
