"""Saved tensors: as a table, as the document of `--json`, and as the file of `--export`."""

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from smlocal.base.files import replacement
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.debugger.tensors.saved_tensors import SavedTensor, collections_of, whole_values
from smlocal.debugger.tensors.tensor import Tensor, TensorStatistics, statistics_of, write_npz
from smlocal.debugger.tensors.tensor_files import Damage
from smlocal.errors import OutputUnusableError

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


def tensor_document(folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage], *, stats: bool) -> str:
    """Each tensor with all its steps. Only a single value is written itself."""
    collections = collections_of(folder)
    found: dict[str, list[dict[str, Any]]] = {each.name: [] for each in tensors}
    for saved, value in whole_values(folder, tensors, damaged):
        found[saved.name].append(_step(saved, value, stats=stats))
    document = {
        "Folder": folder,
        "Tensors": [
            {
                "Name": name,
                "Collections": sorted(each for each, names in collections.items() if name in names),
                "Steps": found[name],
            }
            for name in sorted(found)
        ],
        "Damaged": [{"File": each.file, "Offset": each.offset, "Problem": each.problem} for each in damaged],
    }
    return json_without_commands(json.dumps(document, indent=2))


def _step(saved: SavedTensor, tensor: Tensor, *, stats: bool) -> dict[str, Any]:
    step: dict[str, Any] = {
        "Step": saved.step,
        "Mode": saved.mode,
        "ModeStep": saved.mode_step,
        "Worker": saved.worker,
        "Type": tensor.type.name,
        "Shape": tensor.shape,
    }
    if (single := tensor.single) is not None:
        step["Value"] = _json(single)
    of = statistics_of(tensor) if stats else None
    if of is not None:
        step["Statistics"] = {
            "Minimum": _json(of.lowest),
            "Maximum": _json(of.highest),
            "Mean": _json(of.mean),
            "StandardDeviation": _json(of.deviation),
            "Zeros": of.zeros,
            "NaN": of.nans,
            "Infinite": of.infinities,
        }
    return step


def _json(value: float | str | None) -> float | str | None:
    """JSON has no numbers for these."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def export_tensors(path: str, folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage]) -> int:
    """Write each tensor as `NAME@STEP`, or `NAME@STEP@WORKER` if several workers have saved tensors.

    Returns how many were written.
    """
    path = os.path.realpath(path)
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OutputUnusableError(f"{path} cannot be written: it is not a file", remedy=["Name a new file."])
    several = len({each.worker for each in tensors}) > 1
    try:
        with replacement(path) as file:
            count = write_npz(
                file,
                (
                    (f"{saved.name}@{saved.step}{f'@{saved.worker}' if several else ''}", value)
                    for saved, value in whole_values(folder, tensors, damaged)
                ),
            )
    except OSError as error:
        raise OutputUnusableError(f"{path} cannot be written: {error.strerror or error}") from error
    return count
