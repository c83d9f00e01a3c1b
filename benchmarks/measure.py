"""Time two things side by side: alternating runs in one process, compared by their medians."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """The measurements of one side of a comparison."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def lowest(self) -> float:
        return min(self.values)

    @property
    def highest(self) -> float:
        return max(self.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """One run of a command that succeeded."""

    seconds: float
    processor_seconds: float
    """Of the process and the children that it waited for."""
    peak_bytes: int
    """The most memory that the process, or one of the children it waited for, held at once."""


def alternate(
    ours: Callable[[], float], theirs: Callable[[], float], *, rounds: int, name: str
) -> tuple[Samples, Samples]:
    """Measure both in every round, each first in every other one, after a round that only warms caches."""
    found = alternate_all({"ours": ours, "theirs": theirs}, rounds=rounds, name=name)
    return Samples(values=found["ours"]), Samples(values=found["theirs"])


def alternate_all(sides: Mapping[str, Callable[[], T]], *, rounds: int, name: str) -> dict[str, tuple[T, ...]]:
    """Measure all sides in every round, in another order each time, after a round that only warms caches."""
    values: dict[str, list[T]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        progress(f"{name}: {f'round {number} of {rounds}' if number else 'warming up'}")
        first = (number + 1) % len(sides)
        for side in [*sides, *sides][first : first + len(sides)]:
            value = sides[side]()
            if number:
                values[side].append(value)
    progress("")
    return {side: tuple(found) for side, found in values.items()}


def execute(command: Sequence[str | os.PathLike[str]], *, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end, output thrown away; one that fails ends the benchmark with what it said.

    Linux counts towards the peak what the parent held when it started the child, so the caller must stay small.
    """
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace")
            sys.exit(f"{' '.join(map(str, command))}\nended with {process.returncode}:\n{words}")
    return Ended(seconds=seconds, processor_seconds=usage.ru_utime + usage.ru_stime, peak_bytes=usage.ru_maxrss * 1024)


def progress(text: str) -> None:
    """One line that overwrites itself, for people only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
