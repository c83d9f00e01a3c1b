"""The measurements, as a table on the screen and, dated, in RESULTS.md, which has the last full run of each script."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from measure import Samples

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
OTHER_COMMIT = "that of commit"
"""In the name of a figure: the table by commit has it."""
ROUNDS = 10
"""Fewer are good for trying a script out, and are not recorded."""

HEAD = """\
# Results

The last full run of each script of this folder; README.md says what each measures. A cell has the median, and in
brackets the lowest and the highest of the rounds. All on machines with 2 cores and Docker 20.10; only ratios can be
compared between days. Earlier figures: `git log -p benchmarks/RESULTS.md`.

"""
COLUMNS = ("what", "smlocal", "against", "figure", "at most", "met", "measured", "commit", "script")
TABLE_HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One measured thing beside its bound; all but `met` as text, the way people read it."""

    what: str
    ours: str
    theirs: str
    figure: str
    bound: str
    met: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much to measure."""

    rounds: int
    scale: float
    """The scale of the amounts of data: 1 is what the figures are about, less is for trying a script out."""

    against: tuple[str, ...] = ()
    """Commits to measure in the same run."""
    recorded: bool = False

    def of(self, amount: int) -> int:
        return max(1, int(amount * self.scale))


Benchmark = Callable[[Size], Sequence[Figure]]


def main(*benchmarks: Benchmark, compared_with: str | None = None) -> None:
    """Measure, show, and record what was measured in full.

    `compared_with`: the benchmark can measure other commits in the same run, this one unless told.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"runs of each side, {ROUNDS} unless told")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full amounts of data, 1 unless told")
    parser.add_argument("--no-record", action="store_true", help=f"do not change {RESULTS.name}")
    if compared_with is not None:
        parser.add_argument(
            "--against",
            metavar="COMMIT",
            nargs="*",
            help=f"measure these commits too, {compared_with} unless told, and the last one",
        )
    given = parser.parse_args()
    asked = getattr(given, "against", None)
    against = () if asked is None else tuple(asked or [compared_with])
    full = given.rounds >= ROUNDS and given.scale >= 1
    size = Size(rounds=given.rounds, scale=given.scale, against=against, recorded=full and not given.no_record)
    figures: dict[str, list[Figure]] = {}
    print(f"load before: {os.getloadavg()[0]:.1f}", flush=True)
    for benchmark in benchmarks:
        found = benchmark(size)
        print(_table(found), end="\n\n", flush=True)
        figures.setdefault(_script_of(benchmark), []).extend(found)
    if given.no_record:
        return
    if not full:
        print("Not recorded: fewer rounds or less data than the figures are about.")
        return
    record(figures)
    print(f"Recorded in {os.path.relpath(RESULTS)}")


def comparison(what: str, ours: Samples, theirs: Samples, bound: float) -> Figure:
    """The ratio of two medians of seconds."""
    ratio = ours.median / theirs.median
    return Figure(
        what=what,
        ours=spread(ours, seconds),
        theirs=spread(theirs, seconds),
        figure=f"{ratio:.2f}",
        bound=f"{bound:g}",
        met=ratio <= bound,
    )


def spread(samples: Samples, shown: Callable[[float], str]) -> str:
    return f"{shown(samples.median)} ({shown(samples.lowest)} to {shown(samples.highest)})"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 2 else f"{value * 1000:.0f} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def _table(figures: Sequence[Figure]) -> str:
    rows = [COLUMNS[:6], *map(_texts, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [_line(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, _line("-" * width for width in widths))
    return "\n".join(lines)


def _texts(figure: Figure) -> tuple[str, ...]:
    # A bar within a cell would be the end of it.
    what, met = figure.what.replace("|", "\\|"), "yes" if figure.met else "NO"
    return what, figure.ours, figure.theirs, figure.figure, figure.bound, met


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _script_of(benchmark: Benchmark) -> str:
    name = benchmark.__module__
    return Path(sys.argv[0]).stem if name == "__main__" else name


def record(figures: Mapping[str, Sequence[Figure]]) -> None:
    """Put the figures of these scripts in the place of those of their last run."""
    before, after = RESULTS.read_text(encoding="utf-8").split(TABLE_HEAD)
    today, commit = (
        f"{datetime.now().astimezone():%Y-%m-%d}",
        _said("git", "-C", str(HERE), "describe", "--always", "--dirty"),
    )
    rows = [line for line in after.splitlines() if _cells(line)[-1].strip("`") not in figures]
    rows += [
        _line((*_texts(figure), today, commit, f"`{script}`"))
        for script, found in figures.items()
        for figure in found
        if OTHER_COMMIT not in figure.what
    ]
    # Sorting keeps the order of the rows of one script.
    table = "\n".join(sorted(rows, key=lambda line: _cells(line)[-1]))
    RESULTS.write_text(f"{before}{TABLE_HEAD}{table}\n", encoding="utf-8")


def _cells(line: str) -> list[str]:
    return line.removeprefix("| ").removesuffix(" |").split(" | ")


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
