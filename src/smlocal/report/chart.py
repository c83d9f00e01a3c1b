"""A small line chart: what it shows, and where its lines are in the drawing. The template `macros.html` draws it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

COLUMNS = 300
"""More columns would not be visible."""

XY = tuple[float, float]
Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line, and its entry in the legend."""

    label: str
    value: str
    points: Sequence[XY]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Text and lines of a chart."""

    WIDTH: ClassVar = 600
    HEIGHT: ClassVar = 120

    title: str
    value: str
    """The most important number, beside the title."""
    detail: str
    """Below the title."""
    lines: Sequence[Line]
    x_range: Range
    x_labels: tuple[str, str]
    y_range: Range
    y_labels: tuple[str, str]
    limit: float | None = None
    """Drawn as a horizontal line."""

    def positions(self, line: Line) -> list[str]:
        """The points of a line as `x,y` in the drawing."""
        return [f"{self._x(x):.1f},{self.height_of(y):.1f}" for x, y in line.points]

    def _x(self, x: float) -> float:
        start, end = self.x_range
        # A single moment is drawn at the right end, where the latest value always is.
        return self.WIDTH * (x - start) / (end - start) if end > start else float(self.WIDTH)

    def height_of(self, y: float) -> float:
        """Where a value is in the drawing, from its top."""
        low, high = self.y_range
        share = (y - low) / (high - low) if high > low else 0.5
        return self.HEIGHT - 0.5 - (self.HEIGHT - 1) * share


class Downsampler:
    """Reduces a series of any length: the first, lowest, highest and last value of each column are kept."""

    def __init__(self, start: float, end: float) -> None:
        """Columns of equal width from `start` to `end`; points outside count for the first or last column."""
        self._start = start
        self._width = (end - start) / COLUMNS
        self._columns: dict[int, list[tuple[int, XY]]] = {}
        self._count = 0

    def add(self, x: float, y: float) -> None:
        """Add the next point."""
        column = int((x - self._start) / self._width) if self._width > 0 else 0
        point = (self._count, (x, y))
        self._count += 1
        kept = self._columns.setdefault(min(COLUMNS - 1, max(0, column)), [point] * 4)
        if y < kept[1][1][1]:
            kept[1] = point
        if y > kept[2][1][1]:
            kept[2] = point
        kept[3] = point

    @property
    def points(self) -> list[XY]:
        """The points that were kept, in the order they were added."""
        return [point for column in sorted(self._columns) for _, point in sorted(set(self._columns[column]))]


def downsample(points: Iterable[XY], x_range: Range) -> list[XY]:
    """The points of a series to draw."""
    kept = Downsampler(*x_range)
    for x, y in points:
        kept.add(x, y)
    return kept.points
