"""Where the boxes and arrows of a graph are: in layers from top to bottom, so that few arrows cross.

An arrow over several layers has a place in each of them. Arrows to one box, or from one box, share these places.
"""

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final

from smlocal.jobs.page_parts import Arrow, Box, Graph

BOX_WIDTH: Final = 200
BOX_HEIGHT: Final = 64
_GAP: Final = 22.0
"""Between two boxes of a layer."""
_LANE: Final = 16.0
"""Between an arrow that passes and its neighbours."""
_LAYER: Final = BOX_HEIGHT + 46.0
_HEAD: Final = 7.0
"""The height of an arrow's head."""
_MARGIN: Final = 2.0
_MOST_BESIDE: Final = 4
"""Boxes of a layer: as many as the page is wide."""
_SWEEPS: Final = 6
_OF_LANE: Final = 0.25
"""How much an arrow that passes counts for the place of a box; a box counts 1."""
_TO_THE_LEFT: Final = 0.5
"""How much it counts where it would be if all were as far left as they can."""
_LONGEST: Final = 20
"""Characters that fit into a box."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedBox:
    """A box in the drawing."""

    WIDTH: ClassVar = BOX_WIDTH
    HEIGHT: ClassVar = BOX_HEIGHT

    box: Box
    left: float
    top: float

    @property
    def name(self) -> str:
        """As much of the name as fits: its beginning and its end."""
        return shortened(self.box.name, _LONGEST)


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A part of an arrow."""

    path: str
    faint: bool
    head: str = ""
    """The path of the arrow's head, if it ends here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A word at an arrow."""

    text: str
    x: float
    y: float
    faint: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """A drawing of a graph."""

    width: float
    height: float
    boxes: tuple[PlacedBox, ...]
    curves: tuple[Curve, ...]
    labels: tuple[Label, ...]


def lay_out(graph: Graph) -> Layout:
    """Place everything. The same graph always has the same drawing."""
    arrows = [each for each in graph.arrows if each.start != each.end]
    layers = _layers(len(graph.boxes), arrows)
    drawing = _Drawing(layers, arrows)
    drawing.order()
    drawing.place()
    return drawing.layout(graph.boxes)


def shortened(text: str, longest: int) -> str:
    """A text with its middle left out, if it is long."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def _layers(number: int, arrows: Sequence[Arrow]) -> list[int]:
    """The layer of each box: below all that lead to it, and where there is room."""
    following: list[list[int]] = [[] for _ in range(number)]
    missing = [0] * number
    for each in arrows:
        following[each.start].append(each.end)
        missing[each.end] += 1
    found = [0] * number
    beside: dict[int, int] = {}
    ready = [(0, box) for box in range(number) if not missing[box]]
    heapq.heapify(ready)
    while ready:
        at, box = heapq.heappop(ready)
        while beside.get(at, 0) >= _MOST_BESIDE:
            at += 1
        found[box] = at
        beside[at] = beside.get(at, 0) + 1
        for after in following[box]:
            found[after] = max(found[after], at + 1)
            missing[after] -= 1
            if not missing[after]:
                heapq.heappush(ready, (found[after], after))
    return found


@dataclass(kw_only=True, slots=True)
class _Place:
    """A box, or an arrow that passes a layer."""

    layer: int
    box: int | None = None
    faint: bool = True
    x: float = 0.0
    """Of its middle."""
    least: float = 0.0
    """The least that `x` can be."""
    position: float = 0.0
    """In its layer."""

    @property
    def half(self) -> float:
        return BOX_WIDTH / 2 if self.box is not None else 0.0


class _Drawing:
    def __init__(self, layers: Sequence[int], arrows: Sequence[Arrow]) -> None:
        self.layers: list[list[_Place]] = [[] for _ in range(max(layers, default=-1) + 1)]
        self.boxes = [_Place(layer=layer, box=box) for box, layer in enumerate(layers)]
        for place in self.boxes:
            self.layers[place.layer].append(place)
        self.parts: dict[tuple[int, int], tuple[_Place, _Place, bool]] = {}
        """Parts of arrows between neighbouring layers, by the identity of their ends, and whether they are faint."""
        self.labels: list[tuple[_Place, _Place, Arrow]] = []
        self._add(arrows)
        self.above: dict[int, list[_Place]] = {}
        self.below: dict[int, list[_Place]] = {}
        for start, end, _ in self.parts.values():
            self.below.setdefault(id(start), []).append(end)
            self.above.setdefault(id(end), []).append(start)

    def _add(self, arrows: Sequence[Arrow]) -> None:
        leaving: dict[int, int] = {}
        entering: dict[int, int] = {}
        for each in arrows:
            leaving[each.start] = leaving.get(each.start, 0) + 1
            entering[each.end] = entering.get(each.end, 0) + 1
        shared: dict[tuple[str, int, str, int], _Place] = {}
        for each in arrows:
            start, end = self.boxes[each.start], self.boxes[each.end]
            by_end = entering[each.end] >= leaving[each.start]
            key = ("to", each.end) if by_end else ("from", each.start)
            places = [start]
            for layer in range(start.layer + 1, end.layer):
                place = shared.get((*key, each.label, layer))
                if place is None:
                    place = shared[*key, each.label, layer] = _Place(layer=layer)
                    self.layers[layer].append(place)
                place.faint = place.faint and each.faint
                places.append(place)
            places.append(end)
            for first, second in pairwise(places):
                _, _, faint = self.parts.get((id(first), id(second)), (first, second, True))
                self.parts[id(first), id(second)] = (first, second, faint and each.faint)
            if each.label:
                self.labels.append((places[0], places[1], each))

    # The order within the layers.

    def order(self) -> None:
        """Sort each layer by the middle of its neighbours, down and up again, and keep the best."""
        self._number()
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(2 * _SWEEPS):
            if not fewest:
                break
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for layer in self.layers if down else reversed(self.layers):
                middles = {id(place): _mean(neighbours.get(id(place), ()), place) for place in layer}
                layer.sort(key=lambda place: middles[id(place)])
                self._number(layer)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best
        self._number()

    def _number(self, *layers: list[_Place]) -> None:
        for layer in layers or self.layers:
            for position, place in enumerate(layer):
                place.position = position

    def _crossings(self) -> int:
        found = 0
        parts: dict[int, list[tuple[float, float]]] = {}
        for start, below, _ in self.parts.values():
            parts.setdefault(start.layer, []).append((start.position, below.position))
        for each in parts.values():
            before: list[float] = []
            for _, end in sorted(each):
                at = bisect_right(before, end)
                found += len(before) - at
                before.insert(at, end)
        return found

    # Their distances.

    def place(self) -> None:
        """Put each in the middle of those above it and below it, and all of them to the left.

        A narrow screen shows the left of the drawing first. It is as wide as its widest layer must be.
        """
        rights = [_packed(layer) for layer in self.layers]
        widest = max(rights, default=0.0)
        for sweep in range(2 * _SWEEPS):
            layers = list(zip(self.layers, rights, strict=True))
            for layer, right in layers if sweep % 2 == 0 else reversed(layers):
                _spread(layer, [self._wanted(place) for place in layer], room=widest - right)

    def _wanted(self, place: _Place) -> float:
        near: list[_Place] = [*self.above.get(id(place), ()), *self.below.get(id(place), ())]
        if place.box is None:
            return sum(each.x for each in near) / len(near)
        weights = [1.0 if each.box is not None else _OF_LANE for each in near]
        total = sum(weight * each.x for weight, each in zip(weights, near, strict=True))
        return (total + _TO_THE_LEFT * place.least) / (sum(weights) + _TO_THE_LEFT)

    # The drawing.

    def layout(self, boxes: Sequence[Box]) -> Layout:
        """The paths."""
        right = max((place.x + place.half for layer in self.layers for place in layer), default=0.0)
        curves = [self._curve(start, end, faint=faint) for start, end, faint in self.parts.values()]
        curves += [
            Curve(path=f"M{place.x:.1f} {_top(place):.1f}v{BOX_HEIGHT}", faint=place.faint)
            for layer in self.layers
            for place in layer
            if place.box is None
        ]
        return Layout(
            width=right + _MARGIN,
            height=max(0.0, len(self.layers) * _LAYER - (_LAYER - BOX_HEIGHT)) + 2 * _MARGIN,
            boxes=tuple(
                PlacedBox(box=box, left=place.x - BOX_WIDTH / 2, top=_top(place))
                for box, place in zip(boxes, self.boxes, strict=True)
            ),
            curves=tuple(sorted(curves, key=lambda each: not each.faint)),  # those that were gone along are above
            labels=tuple(
                Label(
                    text=arrow.label,
                    x=(start.x + end.x) / 2,
                    y=(_top(start) + BOX_HEIGHT + _top(end)) / 2,
                    faint=arrow.faint,
                )
                for start, end, arrow in self.labels
            ),
        )

    def _curve(self, start: _Place, end: _Place, *, faint: bool) -> Curve:
        top, bottom = _top(start) + BOX_HEIGHT, _top(end)
        arrives = end.box is not None
        stop = bottom - (_HEAD if arrives else 0.0)
        middle = (top + stop) / 2
        path = f"M{start.x:.1f} {top:.1f}C{start.x:.1f} {middle:.1f} {end.x:.1f} {middle:.1f} {end.x:.1f} {stop:.1f}"
        head = f"M{end.x - _HEAD / 2:.1f} {stop:.1f}h{_HEAD:.1f}L{end.x:.1f} {bottom:.1f}z" if arrives else ""
        return Curve(path=path, faint=faint, head=head)


def _top(place: _Place) -> float:
    return _MARGIN + place.layer * _LAYER


def _mean(neighbours: Sequence[_Place], place: _Place) -> float:
    return sum(each.position for each in neighbours) / len(neighbours) if neighbours else place.position


def _packed(layer: Sequence[_Place]) -> float:
    """Put all as far to the left as they can be; returns where they end."""
    at = _MARGIN
    for before, place in zip([None, *layer], layer, strict=False):
        lane = place.box is None or (before is not None and before.box is None)
        at += place.half if before is None else before.half + place.half + (_LANE if lane else _GAP)
        place.least = place.x = at
    return at + layer[-1].half


def _spread(layer: Sequence[_Place], wanted: Sequence[float], *, room: float) -> None:
    """The places nearest to those that are wanted, in this order and with enough distance: neighbours move together.

    `room`: how far all of them can go to the right.
    """
    blocks: list[tuple[float, int]] = []
    """How far from the left, and the number of places."""
    for place, want in zip(layer, wanted, strict=True):
        block = (want - place.least, 1)
        while blocks and blocks[-1][0] >= block[0]:
            earlier = blocks.pop()
            count = earlier[1] + block[1]
            block = ((earlier[0] * earlier[1] + block[0] * block[1]) / count, count)
        blocks.append(block)
    shifts = [shift for shift, count in blocks for _ in range(count)]
    for place, shift in zip(layer, shifts, strict=True):
        place.x = place.least + min(max(0.0, shift), room)
