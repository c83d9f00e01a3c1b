"""Saved tensors as a table."""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from smlocal.cli.terminal.columns import width_of
from smlocal.cli.terminal.printable import printable
from smlocal.cli.terminal.table import table
from smlocal.tensors.saved_tensors import SavedTensor, whole_values
from smlocal.tensors.tensor import Tensor, TensorStatistics, statistics_of
from smlocal.tensors.tensor_files import Damage

_HEAD = ("TENSOR", "TYPE", "SHAPE", "STEPS", "COUNT", "LAST")
_STATISTICS = ("TENSOR", "STEP", "WORKER", "MIN", "MAX", "MEAN", "STD", "ZEROS", "NAN", "INF")
_SHRINKABLE = ((0, 20),)


def tensor_lines(folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage]) -> Iterator[str]:
    """A row for each name: type, shape and value are those of its last step."""
    groups = [[*group] for _, group in groupby(sorted(tensors, key=_order), key=lambda each: each.name)]
    last = {saved.name: value for saved, value in whole_values(folder, (group[-1] for group in groups), damaged)}
    return _table(_HEAD, [_row(group, last.get(group[0].name)) for group in groups], (4,))


def statistics_lines(folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage]) -> Iterator[str]:
    """A row for each step."""
    rows = [
        (printable(saved.name), str(saved.step), printable(saved.worker), *_numbers(statistics_of(value)))
        for saved, value in whole_values(folder, sorted(tensors, key=_order), damaged)
    ]
    return _table(_STATISTICS, rows, (1, *range(3, len(_STATISTICS))))


def _order(tensor: SavedTensor) -> tuple[str, int, str]:
    return tensor.name, tensor.step, tensor.worker


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: tuple[int, ...]) -> Iterator[str]:
    return table([head, *rows], width=width_of(sys.stdout), shrinkable=_SHRINKABLE, right=right)


def _row(group: Sequence[SavedTensor], last: Tensor | None) -> tuple[str, ...]:
    steps = {each.step for each in group}
    low, high = min(steps), max(steps)
    kind, shape, single = "damaged", "", None
    if last is not None:
        kind, shape, single = last.type.name, "x".join(map(str, last.shape)) or "scalar", last.single
    value = "" if single is None else single if isinstance(single, str) else f"{single:.6g}"
    return (
        printable(group[0].name),
        kind,
        shape,
        str(low) if low == high else f"{low} to {high}",
        str(len(steps)),
        printable(" ".join(value.split())),
    )


def _numbers(of: TensorStatistics | None) -> tuple[str, ...]:
    if of is None:
        return ("",) * 7
    numbers = (of.lowest, of.highest, of.mean, of.deviation)
    return (
        *("" if number is None else f"{number:.4g}" for number in numbers),
        *map(str, (of.zeros, of.nans, of.infinities)),
    )
