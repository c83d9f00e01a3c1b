"""A series of any length becomes as many points as a curve on a screen can show."""

from collections.abc import Iterable

COLUMNS = 300

Place = tuple[float, float]


class Thinned:
    """Of each column the first value, the lowest, the highest and the last: one spike among millions stays."""

    def __init__(self, start: float, end: float) -> None:
        """Columns of equal width from `start` to `end`; what lies outside goes to the outermost."""
        self._start = start
        self._width = (end - start) / COLUMNS
        self._columns: dict[int, list[tuple[int, Place]]] = {}
        self._count = 0

    def add(self, x: float, y: float) -> None:
        """Take in the next value."""
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
    def points(self) -> list[Place]:
        """What is left, column by column."""
        return [place for column in sorted(self._columns) for _, place in sorted(set(self._columns[column]))]


def thinned(points: Iterable[Place], start: float, end: float) -> list[Place]:
    """The same of points that are at hand."""
    columns = Thinned(start, end)
    for x, y in points:
        columns.add(x, y)
    return columns.points
