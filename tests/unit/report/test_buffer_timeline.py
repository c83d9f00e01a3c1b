from typing import Any

import pytest

from smlocal.report.page import BufferTimeline, buffer_timeline

BLOCK: dict[str, Any] = {
    "Library": "stand-in",
    "Balanced": {
        "IterationBytes": {"Balanced": [28, 28], "WholeVariables": [64, 12]},
        "LastIteration": {
            "Buffers": [
                {"Bytes": 40, "Ready": 0.2, "Begin": 0.3, "End": 0.7},
                {"Bytes": 16, "Ready": 0.5, "Begin": 0.7, "End": 1.0},
            ],
            "BegunBeforeTheNextWasReady": 1,
        },
    },
}


def test_rows_of_an_iteration() -> None:
    shown = buffer_timeline(BLOCK)
    assert shown is not None
    assert [(each.number, each.balanced, each.whole_variables) for each in shown.servers] == [(0, 28, 64), (1, 28, 12)]
    first, second = shown.buffers
    assert (first.filling_left, first.filling_width) == pytest.approx((0, 200))
    assert (first.reducing_left, first.reducing_width) == pytest.approx((300, 400))
    # The backward pass filled the second buffer while the first was being reduced.
    assert (second.filling_left, second.filling_width) == pytest.approx((200, 300))
    assert (second.reducing_left, second.reducing_width) == pytest.approx((700, 300))
    assert (shown.seconds, shown.overlapping) == (1.0, 1)


@pytest.mark.parametrize("block", [None, {}, {"Library": "image"}, {"Library": "stand-in", "Mode": "plain"}])
def test_jobs_without_balanced_buffers(block: Any) -> None:
    assert buffer_timeline(block) is None


def test_without_times() -> None:
    balanced = {"IterationBytes": {"Balanced": [4, 4], "WholeVariables": []}, "LastIteration": None}
    shown = buffer_timeline({"Balanced": balanced})
    assert shown is not None
    assert shown.buffers == ()
    assert [each.whole_variables for each in shown.servers] == [None, None]


@pytest.mark.parametrize("times", [(0.0, 0.0, 0.0), (-5.0, -4.0, -3.0), (9.0, 1.0, 2.0), (0.1, 1e9, -1e9)])
def test_bars_stay_in_the_drawing(times: tuple[float, float, float]) -> None:
    row = dict(zip(("Ready", "Begin", "End"), times, strict=True))
    balanced = {
        "IterationBytes": {"Balanced": [], "WholeVariables": []},
        "LastIteration": {"Buffers": [{"Bytes": 1, **row}], "BegunBeforeTheNextWasReady": 0},
    }
    shown = buffer_timeline({"Balanced": balanced})
    assert shown is not None
    for bar in shown.buffers:
        assert 0 <= bar.reducing_left <= bar.reducing_left + bar.reducing_width <= BufferTimeline.WIDTH
        assert 0 <= bar.filling_left <= bar.filling_left + bar.filling_width <= BufferTimeline.WIDTH
