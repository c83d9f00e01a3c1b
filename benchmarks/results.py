"""The measurements, as a table on the screen and, dated, at the end of RESULTS.md."""

import argparse
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from measure import Samples

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
ROUNDS = 10
"""Fewer are good for trying a script out, and are not recorded."""

_HEAD = """\
# Results

Every section is one run of a script of this folder, newest last; README.md says what each measures. A cell has the
median, and in brackets the lowest and the highest of the rounds.
"""


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
    parser.add_argument("--no-record", action="store_true", help=f"do not append to {RESULTS.name}")
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
    figures: list[Figure] = []
    load = os.getloadavg()[0]
    for benchmark in benchmarks:
        found = benchmark(size)
        print(_table(found), end="\n\n", flush=True)
        figures += found
    if given.no_record:
        return
    if not full:
        print("Not recorded: fewer rounds or less data than the figures are about.")
        return
    _record(figures, load)
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
    rows = [("what", "smlocal", "against", "figure", "at most", "met")]
    # A bar within a cell would be the end of it.
    rows += [
        (f.what.replace("|", "\\|"), f.ours, f.theirs, f.figure, f.bound, "yes" if f.met else "NO") for f in figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [_line(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, _line("-" * width for width in widths))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _record(figures: Sequence[Figure], load: float) -> None:
    command = shlex.join([f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    if sys.argv[0].endswith(".py"):
        command = f"python {command}"
    when = datetime.now().astimezone()
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else _HEAD
    text += (
        f"\n## {when:%Y-%m-%d %H:%M %z} · `{command}`\n\n{_machine()}; load before: {load:.1f}.\n\n{_table(figures)}\n"
    )
    RESULTS.write_text(text, encoding="utf-8")


def _machine() -> str:
    cores = os.cpu_count() or 1
    if sys.platform == "linux":
        cores = len(os.sched_getaffinity(0))
    engine = _said("docker", "version", "--format", "{{.Server.Version}} (client {{.Client.Version}})")
    commit = _said("git", "-C", str(HERE), "describe", "--always", "--dirty")
    return (
        f"{_processor()}, {cores} core{'s' * (cores != 1)}; Linux {platform.release()}; Docker {engine}; "
        f"Python {platform.python_version()}; commit {commit}"
    )


def _processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
