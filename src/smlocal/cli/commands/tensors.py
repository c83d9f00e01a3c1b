"""`smlocal tensors`: what the debugger's hook has saved in a job."""

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from smlocal.cli.job_argument import completed_jobs, named_or_newest
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from smlocal.debugger.tensors.saved_tensors import SavedTensor
    from smlocal.debugger.tensors.tensor_files import Damage

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
    from smlocal.debugger.tensors.saved_tensors import saved_tensors

    found = saved_tensors(folder)
    damaged = [*found.damaged]
    chosen = _chosen(folder, found.tensors, matching, step) if found.tensors or not damaged else []
    if path is not None:
        from smlocal.cli.views.saved_tensors import export_tensors

        count = export_tensors(path, folder, chosen, damaged)
        click.echo(f"{count:,} tensors: {path}", err=True)
    if as_json:
        from smlocal.cli.views.saved_tensors import tensor_document

        click.echo(tensor_document(folder, chosen, damaged, stats=stats))
        sys.exit(1 if damaged else 0)
    if chosen and path is None:
        from smlocal.cli.views.saved_tensors import statistics_lines, tensor_lines

        for line in (statistics_lines if stats else tensor_lines)(folder, chosen, damaged):
            click.echo(line)
    if damaged:
        raise _damaged(folder, damaged)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        from smlocal.errors.tensors import TensorPatternError

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
    from smlocal.errors.tensors import TensorsMissingError, TensorStepError

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
    from smlocal.errors.tensors import TensorsDamagedError

    files = len({each.file for each in damaged})
    return TensorsDamagedError(
        f"{files:,} {'file' if files == 1 else 'files'} of {folder} cannot be read", details=_some([*map(str, damaged)])
    )


def _some(lines: "Sequence[str]") -> list[str]:
    more = len(lines) - _MOST_SHOWN
    return [*map(printable, lines[:_MOST_SHOWN]), *([f"… and {more:,} more"] if more > 0 else [])]
