from hypothesis import given
from hypothesis import strategies as st

from smlocal.report.charts import COLUMNS, downsample

NUMBERS = st.floats(-1e9, 1e9)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1))
def test_extremes_and_ends_stay_and_nothing_is_made_up(points: list[tuple[float, float]]) -> None:
    points = sorted(points, key=lambda point: point[0])
    kept = downsample(points, (points[0][0], points[-1][0]))
    assert set(kept) <= set(points)
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    heights = [y for _, y in points]
    assert {min(heights), max(heights)} <= {y for _, y in kept}
    assert [x for x, _ in kept] == sorted(x for x, _ in kept)


def test_one_spike_among_many_values_stays_and_few_points_are_left() -> None:
    points = [(float(index), 1000.0 if index == 77_777 else 0.0) for index in range(100_000)]
    kept = downsample(points, (0.0, 99_999.0))
    assert (77_777.0, 1000.0) in kept
    assert len(kept) <= 4 * COLUMNS
