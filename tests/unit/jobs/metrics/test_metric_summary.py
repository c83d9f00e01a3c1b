from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.metrics.found_values import (
    MetricSummary,
    ValuesFile,
    metrics_folder,
    read_state,
    read_values,
    summaries,
    write_state,
)
from smlocal.terms.metrics import MetricPattern, MetricValue

LOSS, ACC = MetricPattern(name="loss", regex="()"), MetricPattern(name="acc", regex="()")
HOSTS = ["algo-1", "algo-2"]


def take(directory: Path, *values: tuple[int, int, float | None, float]) -> None:
    with closing(ValuesFile(str(directory))) as file:
        for value in values:
            file.add(*value)


def test_values_are_there_while_they_come(tmp_path: Path) -> None:
    assert list(read_values(str(tmp_path), [LOSS], HOSTS)) == []
    with closing(ValuesFile(str(tmp_path))) as file:
        file.add(0, 0, 100.5, 0.5)
        file.add(0, 1, None, 0.25)
        file.flush()
        with open(f"{metrics_folder(str(tmp_path))}/values", "ab") as other:
            other.write(b"half of one")
        assert list(read_values(str(tmp_path), [LOSS], HOSTS)) == [
            MetricValue(name="loss", value=0.5, at=100.5, host="algo-1"),
            MetricValue(name="loss", value=0.25, at=None, host="algo-2"),
        ]


def test_another_reader_begins_anew(tmp_path: Path) -> None:
    with closing(ValuesFile(str(tmp_path))) as old:
        assert not old.superseded
        with closing(ValuesFile(str(tmp_path))) as new:
            new.add(0, 0, 2.0, 2.0)
            old.add(0, 0, 3.0, 3.0)
            assert (old.superseded, new.superseded) == (True, False)
    assert [value.value for value in read_values(str(tmp_path), [LOSS], HOSTS)] == [2.0]


def test_the_last_by_time_wins_over_all_hosts(tmp_path: Path) -> None:
    take(tmp_path, (0, 0, 10.0, 0.5), (0, 0, 30.0, 0.25), (0, 1, 20.0, 0.75), (1, 1, None, 1.0), (1, 0, None, 2.0))
    last = [each.last for each in summaries(str(tmp_path), [LOSS, ACC], HOSTS)]
    assert [(each.name, each.value, each.at, each.host) for each in last if each is not None] == [
        ("loss", 0.25, 30.0, "algo-1"),
        ("acc", 2.0, None, "algo-1"),
    ]


def test_a_metric_without_a_value_is_summed_up_too(tmp_path: Path) -> None:
    take(tmp_path, (1, 0, 10.0, -0.5), (1, 0, 11.0, 4.0), (1, 0, 12.0, 1.0))
    loss, acc = summaries(str(tmp_path), [LOSS, ACC], HOSTS)
    assert (loss.count, loss.last, loss.points) == (0, None, [])
    assert (acc.count, acc.lowest, acc.highest, acc.points) == (3, -0.5, 4.0, [-0.5, 4.0, 1.0])


def test_definitions_of_one_name_are_one_metric(tmp_path: Path) -> None:
    take(tmp_path, (0, 0, 10.0, 1.0), (1, 0, 11.0, 2.0))
    (only,) = summaries(str(tmp_path), [LOSS, LOSS], HOSTS)
    assert (only.count, only.last and only.last.value) == (2, 2.0)


@given(st.lists(st.integers(-1000, 1000), max_size=600))
def test_the_course_is_of_means(numbers: list[int]) -> None:
    summary = MetricSummary(name="loss")
    for number in numbers:
        summary.add(MetricValue(name="loss", value=float(number), at=None, host="algo-1"))
    points = summary.points
    assert len(points) <= 64
    each = 1
    while each * 64 < len(numbers):
        each *= 2
    groups = [numbers[start : start + each] for start in range(0, len(numbers), each)]
    assert points == pytest.approx([sum(group) / len(group) for group in groups])


def test_a_state_is_whole_or_the_one_before(tmp_path: Path) -> None:
    assert read_state(str(tmp_path)) == {}
    take(tmp_path)
    write_state(str(tmp_path), {"Read": {"algo-1": 7}})
    assert read_state(str(tmp_path)) == {"Read": {"algo-1": 7}}
    Path(f"{metrics_folder(str(tmp_path))}/state.json").write_text('{"Read')
    assert read_state(str(tmp_path)) == {}
