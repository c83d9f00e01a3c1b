"""Where the boxes and arrows of a graph are drawn."""

import re
from collections.abc import Iterable
from itertools import combinations, pairwise

import pytest

from smlocal.jobs.page_parts import Arrow, Box, Graph
from smlocal.report.graph_layout import BOX_HEIGHT, BOX_WIDTH, Layout, PlacedBox, lay_out, shortened

PAGE = 952
"""The width of the text of a page."""


def graph(number: int, arrows: Iterable[tuple[int, int]]) -> Graph:
    boxes = tuple(Box(name=f"S{each}", kind="Training", state="done", status="") for each in range(number))
    return Graph(title="t", boxes=boxes, arrows=tuple(Arrow(start=start, end=end) for start, end in arrows))


CHAIN = graph(12, pairwise(range(12)))
WIDE = graph(22, [*((0, each) for each in range(1, 21)), *((each, 21) for each in range(1, 21))])
DIAMONDS = graph(13, [(at + start, at + end) for at in (0, 4, 8) for start, end in ((0, 1), (0, 2), (1, 4), (2, 4))])
CROSSED = graph(8, [(each, 7 - each) for each in range(4)])
DENSE = graph(90, [(start, end) for start in range(85) for end in (start + 1, start + 3, min(89, start + 30))])
LONE = graph(3, [])
ALL = {"chain": CHAIN, "wide": WIDE, "diamonds": DIAMONDS, "crossed": CROSSED, "dense": DENSE, "lone": LONE}


def is_over(one: PlacedBox, other: PlacedBox) -> bool:
    return abs(one.left - other.left) < BOX_WIDTH and abs(one.top - other.top) < BOX_HEIGHT


def numbers(path: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?[0-9.]+", path)]


@pytest.mark.parametrize("given", ALL.values(), ids=ALL)
def test_boxes_are_below_those_that_lead_to_them_and_beside_the_others(given: Graph) -> None:
    drawn = lay_out(given)
    assert drawn == lay_out(given)
    for arrow in given.arrows:
        assert drawn.boxes[arrow.start].top + BOX_HEIGHT < drawn.boxes[arrow.end].top
    assert not any(is_over(*both) for both in combinations(drawn.boxes, 2))
    rights = [each.left + BOX_WIDTH for each in drawn.boxes]
    assert min(each.left for each in drawn.boxes) > 0
    assert max(rights) <= drawn.width
    assert max(each.top + BOX_HEIGHT for each in drawn.boxes) <= drawn.height
    reached = {(each.left + BOX_WIDTH / 2, each.top) for each in drawn.boxes}
    heads = [numbers(each.head) for each in drawn.curves if each.head]
    assert all(min(abs(x - at) + abs(y - top) for at, top in reached) < 0.2 for *_, x, y in heads)
    assert len(heads) >= len({arrow.end for arrow in given.arrows})


def crossings(drawn: Layout) -> int:
    """Of the curves between two layers."""
    found: dict[float, list[tuple[float, float]]] = {}
    for curve in drawn.curves:
        if "C" in curve.path:
            left, top, *_, right, _ = numbers(curve.path)
            found.setdefault(top, []).append((left, right))
    pairs = [both for each in found.values() for both in combinations(each, 2)]
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in pairs)


def test_a_chain_is_straight_and_few_arrows_cross() -> None:
    assert len({round(each.left) for each in lay_out(CHAIN).boxes}) == 1
    assert all(crossings(lay_out(each)) == 0 for each in (CHAIN, WIDE, DIAMONDS, CROSSED))


def test_many_steps_side_by_side_are_in_rows_as_wide_as_the_page() -> None:
    drawn = lay_out(WIDE)
    assert drawn.width < PAGE
    assert len({each.top for each in drawn.boxes}) == 7
    assert len(drawn.curves) < 60  # arrows to one box share their ways


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    assert shortened("Train", 20) == "Train"
    assert shortened("HyperparameterTuningOfAbalone", 20) == "Hyperparamete…balone"
