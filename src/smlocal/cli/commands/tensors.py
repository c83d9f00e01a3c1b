"""`smlocal tensors`: what the debugger's hook has saved in a job."""

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import click

from smlocal.base.files import replacement
from smlocal.cli.job_argument import completed_jobs, named_or_newest
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.debugger.tensors.saved_tensors import SavedTensor, collections_of, saved_tensors, whole_values
from smlocal.debugger.tensors.tensor import Damage, Tensor, TensorStatistics, statistics_of, write_npz
from smlocal.errors import OutputUnusableError
from smlocal.errors.of_commands import TensorPatternError, TensorsDamagedError, TensorsMissingError, TensorStepError

_MOST_SHOWN = 20


@shown_command(
    "tensors",
    examples=(
        ("smlocal tensors my-job --match loss --stats", "Show statistics of the losses."),
        ("smlocal tensors ./tensors --export values.npz", "Write the tensors of a folder for NumPy."),
    ),
)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completed_jobs)
@click.option("--match", "pattern", metavar="REGEX", help="Show only tensors whose name matches REGEX.")
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Show only tensors of this step.")
@click.option("--stats", is_flag=True, help="Show minimum, maximum, mean, … for each step.")
@click.option(
    "--export", "path", type=click.Path(readable=False), metavar="FILE", help="Write all values to FILE as .npz."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    *, name: str | None, pattern: str | None, step: int | None, stats: bool, path: str | None, as_json: bool
) -> None:
    """Show the tensors that the debugger's hook has saved in a job.

    The job may be running. NAME may also be a folder with tensors, written with a slash: ./tensors
    """
    matching = None if pattern is None else _compiled(pattern)
    folder = _folder(name)

    found = saved_tensors(folder)
    damaged = [*found.damaged]
    chosen = _chosen(folder, found.tensors, matching, step) if found.tensors or not damaged else []
    if path is not None:
        count = export_tensors(path, folder, chosen, damaged)
        click.echo(f"{count:,} tensors: {path}", err=True)
    if as_json:
        click.echo(tensor_document(folder, chosen, damaged, stats=stats))
        sys.exit(1 if damaged else 0)
    if chosen and path is None:
        for line in (statistics_lines if stats else tensor_lines)(folder, chosen, damaged):
            click.echo(line)
    if damaged:
        raise _damaged(folder, damaged)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise TensorPatternError(
            f"--match {pattern} is not a regular expression: {error}",
            remedy=["A backslash makes a character stand for itself."],
        ) from None


def _folder(name: str | None) -> str:
    if name is not None and "/" in name:
        return name
    from smlocal.api.debugging import tensor_folder

    return tensor_folder(named_or_newest(name))


def _chosen(
    folder: str, tensors: "Sequence[SavedTensor]", matching: re.Pattern[str] | None, step: int | None
) -> "list[SavedTensor]":
    if not tensors:
        raise TensorsMissingError(
            f"there are no tensors in {folder}",
            remedy=["The hook of the script saves them in the steps that its collections name."],
        )
    matched = [each for each in tensors if matching is None or matching.search(each.name)]
    if not matched:
        names = sorted({each.name for each in tensors})
        raise TensorsMissingError("no name of a tensor matches", details=_some(names))
    chosen = [each for each in matched if step in {None, each.step}]
    if not chosen:
        near = sorted({each.step for each in matched}, key=lambda each: abs(each - (step or 0)))
        raise TensorStepError(
            f"no such tensor was saved in step {step:,}",
            details=[f"Steps close to it: {', '.join(f'{each}' for each in sorted(near[:_MOST_SHOWN]))}"],
        )
    return chosen


def _damaged(folder: str, damaged: "Sequence[Damage]") -> Exception:
    files = len({each.file for each in damaged})
    return TensorsDamagedError(
        f"{files:,} {'file' if files == 1 else 'files'} of {folder} cannot be read", details=_some([*map(str, damaged)])
    )


def _some(lines: "Sequence[str]") -> list[str]:
    more = len(lines) - _MOST_SHOWN
    return [*map(printable, lines[:_MOST_SHOWN]), *([f"… and {more:,} more"] if more > 0 else [])]


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
