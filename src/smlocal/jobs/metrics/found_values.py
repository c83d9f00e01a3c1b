"""The values of a job's metrics that were found: their file, and each metric in a few numbers.

The file is appended to while the job runs, and can be read at any time.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from struct import Struct
from typing import Any, Final

from smlocal.base.files import replace_file
from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.metrics import MetricPattern, MetricValue, is_later

_RECORD: Final = Struct("<dfHH")
"""Time (NaN: unknown), value in single precision, index of the definition, index of the host."""
_RECORDS_AT_ONCE: Final = 4096
_FOLDER = "metrics"
_VALUES = "values"
_STATE = "state.json"


def metrics_folder(job_directory: str) -> str:
    """The folder with everything about the metrics of a job."""
    return f"{job_directory}/{_FOLDER}"


class ValuesFile:
    """The values that one process finds. They replace those of an earlier one: each reads the logs from the start."""

    def __init__(self, job_directory: str) -> None:
        """Create a new file. A process that still writes to the earlier one goes on with a file that has no name."""
        folder = metrics_folder(job_directory)
        os.makedirs(folder, exist_ok=True)
        self._path = f"{folder}/{_VALUES}"
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        self._file = open(self._path, "ab")  # noqa: SIM115 - open until the process ends

    def add(self, definition: int, host: int, at: float | None, value: float) -> None:
        """Append one, with the next `flush` at the latest."""
        self._file.write(_RECORD.pack(math.nan if at is None else at, value, definition, host))

    def flush(self) -> None:
        """Make all of them visible to others."""
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()

    @property
    def superseded(self) -> bool:
        """True once another process has created its file."""
        try:
            return os.stat(self._path).st_ino != os.fstat(self._file.fileno()).st_ino
        except OSError:
            return True


def read_values(
    job_directory: str, definitions: Sequence[MetricPattern], hosts: Sequence[str]
) -> Iterator[MetricValue]:
    """Every value in the order in which it was found: for one host and metric, that of the lines."""
    with suppress(FileNotFoundError), open(f"{metrics_folder(job_directory)}/{_VALUES}", "rb") as file:
        rest = b""
        while piece := file.read(_RECORDS_AT_ONCE * _RECORD.size):
            data = rest + piece
            whole = len(data) - len(data) % _RECORD.size
            rest = data[whole:]
            for at, value, definition, host in _RECORD.iter_unpack(data[:whole]):
                yield MetricValue(
                    name=definitions[definition].name,
                    value=value,
                    at=None if math.isnan(at) else at,
                    host=hosts[host],
                )


def write_state(job_directory: str, state: Mapping[str, Any]) -> None:
    """Store how much was read, and which lines were slow."""
    replace_file(f"{metrics_folder(job_directory)}/{_STATE}", json.dumps(state).encode())


def read_state(job_directory: str) -> dict[str, Any]:
    """The state that `write_state` has stored; empty if there is none."""
    try:
        with open(f"{metrics_folder(job_directory)}/{_STATE}", encoding="utf-8") as file:
            state: dict[str, Any] = json.load(file)
            return state
    except (OSError, ValueError):
        return {}


_MAX_POINTS = 64


@dataclass(kw_only=True, slots=True)
class MetricSummary:
    """One metric, over the whole job and all hosts."""

    name: str
    count: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    last: MetricValue | None = None
    """By time; None if there is no value."""
    _sums: list[float] = field(default_factory=list)
    _each: int = 1
    """Values in each sum; the last sum may have fewer."""

    @property
    def points(self) -> list[float]:
        """At most 64 means of equally many values each, in their order."""
        return [total / (min(self._each, self.count - index * self._each)) for index, total in enumerate(self._sums)]

    @property
    def document(self) -> dict[str, Any]:
        """As in the `Local` block, without the last value, which the answer has."""
        return {
            "MetricName": self.name,
            "Count": self.count,
            "Minimum": self.lowest,
            "Maximum": self.highest,
            "Course": [float(f"{point:.7g}") for point in self.points],
        }

    def add(self, value: MetricValue) -> None:
        """Add the next value."""
        number = value.value
        self.lowest = number if not self.count else min(self.lowest, number)
        self.highest = number if not self.count else max(self.highest, number)
        if self.last is None or is_later(value.at, self.last.at):
            self.last = value
        if self.count == self._each * _MAX_POINTS:
            self._sums = [one + other for one, other in zip(self._sums[::2], self._sums[1::2], strict=True)]
            self._each *= 2
        if self.count % self._each:
            self._sums[-1] += number
        else:
            self._sums.append(number)
        self.count += 1


def summaries(job_directory: str, definitions: Sequence[MetricPattern], hosts: Sequence[str]) -> list[MetricSummary]:
    """One for each metric, in the order of the definitions, including those without values."""
    found = {each.name: MetricSummary(name=each.name) for each in definitions}
    for value in read_values(job_directory, definitions, hosts):
        found[value.name].add(value)
    return list(found.values())
