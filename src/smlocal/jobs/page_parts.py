"""Parts of a job's page, as data: charts, tables, facts. The report draws them in this order."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from smlocal.base.formatting import axis_duration
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.view import Bar, Rows

XY = tuple[float, float]
Range = tuple[float, float]
WITHHELD: Final = "(withheld)"
"""In place of secrets: not every font has the character that terminals show."""
MOST_ROWS: Final = 100
"""The most rows of a table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line, and its entry in the legend."""

    label: str
    value: str
    points: Sequence[XY]
    dots: bool = False
    """True if the points are not joined."""
    marked: bool = False
    """True for points that stand out."""


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
    x_name: str = ""
    """Below the axis; empty for time."""
    y_name: str = ""
    """Beside the axis, if the title does not name it."""

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


def time_axis(seconds: float) -> Mapping[str, Any]:
    """The horizontal axis of a chart, from 0 to `seconds`."""
    return {"x_range": (0.0, seconds), "x_labels": ("0 s", axis_duration(seconds))}


@dataclass(frozen=True, kw_only=True, slots=True)
class Charts:
    """Several charts side by side."""

    FORM: ClassVar = "charts"

    charts: tuple[Chart, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parallel:
    """Parallel coordinates: each line crosses several vertical axes."""

    FORM: ClassVar = "parallel"
    WIDTH: ClassVar = 600
    HEIGHT: ClassVar = 120

    title: str
    detail: str
    axes: tuple[tuple[str, str, str], ...]
    """Name, lowest and highest value of each."""
    paths: tuple[tuple[float, ...], ...]
    """Heights on the axes, from 0 to 1. The last one is marked."""

    @property
    def places(self) -> list[float]:
        """The positions of the axes: each above its label."""
        share = self.WIDTH / len(self.axes)
        return [share * (index + 0.5) for index in range(len(self.axes))]

    def positions(self, path: Sequence[float]) -> list[str]:
        """The points of a line as `x,y` in the drawing."""
        return [
            f"{x:.1f},{self.HEIGHT - 0.5 - (self.HEIGHT - 1) * height:.1f}"
            for x, height in zip(self.places, path, strict=True)
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A text in a table."""

    text: str
    key: Any = None
    """The sort key; None: the text. All keys of a column can be compared."""
    whole: str = ""
    """The exact value, if the text is rounded."""
    status: str = ""
    """A status, for its colour."""
    job: str = ""
    """The job, if the text is a job's name."""
    below: tuple[str, ...] = ()
    """More about it, a line for each."""

    @property
    def order(self) -> Any:
        """The sort key."""
        return self.text if self.key is None else self.key


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table that can be sorted by each column."""

    FORM: ClassVar = "table"
    _MOST_ORDERS: ClassVar = 8
    """The style sheet has rules for this many."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()
    """Columns of numbers."""
    by: int | None = None
    """The first sort column; None: the table cannot be sorted."""
    more: str = ""
    """The noun for one row."""
    ids: tuple[str, ...] = ()
    """What links of the page lead to, for each row of a table that cannot be sorted."""
    most: int = MOST_ROWS
    """The most rows that are shown."""

    @property
    def orders(self) -> list[tuple[int | None, list[tuple[Cell, ...]]]]:
        """The sort columns, the initial one first, each with the sorted rows."""
        if self.by is None:
            return [(None, list(self.rows[: self.most]))]
        chosen = [self.by, *(each for each in range(len(self.columns)) if each != self.by)][: self._MOST_ORDERS]
        return [(each, sorted(self.rows, key=lambda row: row[each].order)[: self.most]) for each in chosen]

    @property
    def names_jobs(self) -> bool:
        """True if there are names of jobs that have pages."""
        return any(cell.job for row in self.rows for cell in row)

    @property
    def left_out(self) -> int:
        """Rows that are not shown."""
        return max(0, len(self.rows) - self.most)


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRows:
    """Names, and the texts beside them."""

    FORM: ClassVar = "facts"

    rows: Rows


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLines:
    """Commands to copy, each with a label."""

    FORM: ClassVar = "commands"

    rows: Rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentences:
    """Remarks."""

    FORM: ClassVar = "sentences"

    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """One step of a graph."""

    name: str
    kind: str
    """What it is, with the time that it took."""
    state: str
    """In words, after a sign."""
    status: str
    """A status, for its colour; empty: it has not begun."""
    row: str = ""
    """The id of its row in a table, if it has one."""
    left_out: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrow:
    """From one box to another, by their places."""

    start: int
    end: int
    label: str = ""
    faint: bool = False
    """True if it is not gone along."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """Boxes in layers, with arrows from each to those that follow."""

    FORM: ClassVar = "graph"

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """A table that is opened by its title."""

    id: str
    title: str
    detail: str
    table: Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Folds:
    """Tables that are closed at first."""

    FORM: ClassVar = "folds"

    folds: tuple[Fold, ...]


Block = Charts | Parallel | Table | FactRows | CommandLines | Sentences | Graph | Folds


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSection:
    """A part of the page under a heading. Empty blocks and sections are left out."""

    title: str
    blocks: tuple[Block, ...]
    leading: bool = False
    """True: above the timeline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageParts:
    """The parts of a page that depend on the kind."""

    parent: str = ""
    """The job that made this one, if any."""
    instances: str = ""
    """`2 × ml.m5.large`; empty if the job has no instances."""
    details: Rows = ()
    """More about the job."""
    sections: tuple[PageSection, ...] = ()
    bars: tuple[Bar, ...] = ()
    """More bars of the timeline."""
    more_bars: str = ""
    """The note about bars that are left out."""
