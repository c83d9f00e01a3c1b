"""Rows of text as lines with aligned columns."""

from collections.abc import Collection, Iterator, Sequence

from smlocal.cli.terminal.columns import shortened

_GAP = "   "


def table(
    rows: Sequence[Sequence[str]],
    *,
    width: int | None,
    shrinkable: Sequence[tuple[int, int]] = (),
    right: Collection[int] = (),
) -> Iterator[str]:
    """The first row has the headings. No line is longer than `width`, if there is one.

    `shrinkable` are the columns that may become narrower, in this order, with their least width. The columns `right`
    are aligned to the right.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for column, least in () if width is None else shrinkable:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - (width or 0)
        widths[column] = max(min(least, widths[column]), widths[column] - max(0, excess))
    for row in rows:
        cells = [
            shortened(cell, room).rjust(room) if column in right else shortened(cell, room).ljust(room)
            for column, (cell, room) in enumerate(zip(row, widths, strict=True))
        ]
        line = _GAP.join(cells).rstrip()
        yield line if width is None else shortened(line, width)
