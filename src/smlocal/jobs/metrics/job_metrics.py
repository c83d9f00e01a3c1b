"""The metrics of a job: found while it runs, in a process of its own (`metrics_process`), and read at any time."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.kinds import showing
from smlocal.jobs.store.jobs import Store
from smlocal.terms.metrics import (
    MAX_SLOW_LINES,
    SEARCH_SECONDS,
    MetricPattern,
    MetricValue,
    final_metric_data,
)

if TYPE_CHECKING:
    import subprocess

    from smlocal.jobs.metrics.found_values import MetricSummary, read_state, read_values, summaries
else:
    subprocess = at_use("subprocess")
    MetricSummary = at_use("smlocal.jobs.metrics.found_values", "MetricSummary")
    read_state = at_use("smlocal.jobs.metrics.found_values", "read_state")
    read_values = at_use("smlocal.jobs.metrics.found_values", "read_values")
    summaries = at_use("smlocal.jobs.metrics.found_values", "summaries")

STUCK_SECONDS: Final = 10.0
"""After the containers have ended, the process is killed if it reads nothing for so long."""
_MAX_SECONDS: Final = 60.0
"""And after this time in any case."""
_MAX_NAMES: Final = 8
"""So many metrics without values are named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """The metrics of a job that has ended."""

    final: list[dict[str, Any]] = field(default_factory=list)
    """The last value of each metric, as the answer has them."""
    summaries: list[MetricSummary] = field(default_factory=list)
    """Summaries of the metrics with values."""
    without_values: list[str] = field(default_factory=list)
    """The metrics for which no line had a value, if all lines were searched."""
    notes: list[str] = field(default_factory=list)
    """Metrics that have no values, were disabled, skipped or not read."""

    @property
    def document(self) -> dict[str, Any]:
        """The report for the local block."""
        return {
            "Summaries": [summary.document for summary in self.summaries],
            "WithoutValues": self.without_values,
            "Notes": self.notes,
        }


@dataclass(kw_only=True, slots=True)
class MetricsSearch:
    """Starts the process and ends it. Nothing here fails the job."""

    job_directory: str
    definitions: Sequence[MetricPattern]
    """Without any, there is no process."""
    logs: Mapping[str, str]
    """Path of each host's log, in host order."""
    stuck_seconds: float = STUCK_SECONDS
    _process: "subprocess.Popen[bytes] | None" = None
    _problem: str | None = None
    """Why values are missing."""
    _notes: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Containers run. Does nothing if the process has been started."""
        if self.definitions and self._process is None and self._problem is None:
            self._start()

    def finish(self) -> MetricsReport:
        """Wait until the logs are read, but not too long."""
        if not any(map(os.path.exists, self.logs.values())):
            self._kill()
            return MetricsReport()
        if not self.definitions:
            return MetricsReport()
        self.begin()
        code = self._wait()
        if code:
            self._notes.append(f"the metrics process ended with {code}; a new one read the logs from the start")
            self._start()
            code = self._wait()
        if code:
            self._problem = f"the metrics process ended with {code}"
        try:
            found = summaries(self.job_directory, self.definitions, list(self.logs))
        except OSError as error:
            self._problem, found = self._problem or str(error), []
        without = self._without_values(found)
        return MetricsReport(
            final=final_metric_data([each.last for each in found if each.last is not None]),
            summaries=[each for each in found if each.count],
            without_values=without,
            notes=[*_without_values_notes(without), *self._all_notes()],
        )

    def _start(self) -> None:
        definitions = [{"Name": each.name, "Regex": each.regex} for each in self.definitions]
        task = {"Directory": self.job_directory, "Definitions": definitions, "Logs": dict(self.logs)}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "smlocal.jobs.metrics.metrics_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for smlocal
            )
        except OSError as error:
            self._problem = f"the metrics process could not start: {error}"
            return
        assert self._process.stdin is not None  # noqa: S101 - for mypy
        # Ctrl-C may end it before it has a session of its own; `finish` then starts another one.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{json.dumps(task)}\n".encode())
            self._process.stdin.flush()

    def _wait(self) -> int:
        """Let the process read the logs to their end. Its exit code; 0 if it took too long."""
        process = self._process
        if process is None:
            return 0

        self._close_input()
        began, before = time.monotonic(), None
        while True:
            try:
                return process.wait(self.stuck_seconds)
            except subprocess.TimeoutExpired:
                now = read_state(self.job_directory).get("Read")
                if now == before or time.monotonic() - began > _MAX_SECONDS:
                    break
                before = now
        self._kill()
        self._problem = f"the logs were not read completely {time.monotonic() - began:.1f} s after the end"
        return 0

    def _kill(self) -> None:
        if self._process is not None:
            self._close_input()
            self._process.kill()
            self._process.wait()

    def _close_input(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _without_values(self, found: Sequence[MetricSummary]) -> list[str]:
        """The metrics without values. Those that were not searched in all lines have a note of their own."""
        if self._problem is not None:
            return []
        slow = {self.definitions[int(index)].name for index in read_state(self.job_directory).get("SlowLines", {})}
        return [each.name for each in found if not each.count and each.name not in slow]

    def _all_notes(self) -> list[str]:
        state = read_state(self.job_directory)
        notes = list(self._notes)
        if self._problem is not None:
            read = state.get("Read", {})
            sizes = {host: os.path.getsize(path) for host, path in self.logs.items() if os.path.exists(path)}
            parts = [f"{read.get(host, 0)} of {size} bytes of {host}'s log" for host, size in sizes.items()]
            notes.append(f"metrics are missing: {self._problem}; read: {', '.join(parts)}")
        return notes + _slow_regex_notes(state, self.definitions)


def _without_values_notes(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")
    what = "metric" if len(names) == 1 else "metrics"
    return [f"no line had a value for the {what} {shown}; to try a regex: smlocal plan JOB --try-line TEXT"]


def _slow_regex_notes(state: Mapping[str, Any], definitions: Sequence[MetricPattern]) -> list[str]:
    """A note for each regex that took too long."""
    notes = []
    for index, lines in state.get("SlowLines", {}).items():
        name, limit = definitions[int(index)].name, f"{SEARCH_SECONDS * 1000:g} ms"
        if len(lines) >= MAX_SLOW_LINES:
            what = f"the metric {name} was disabled: its regex took more than {limit} for each of {len(lines)} lines"
        else:
            skipped = "1 line was" if len(lines) == 1 else f"{len(lines)} lines were"
            what = f"{skipped} skipped for the metric {name}: its regex took more than {limit}"
        notes.append(f"{what}, such as {lines[0]!r}")
    return notes


@dataclass(frozen=True, kw_only=True, slots=True)
class JobMetrics:
    """The metrics found so far."""

    directory: str
    definitions: tuple[MetricPattern, ...]
    hosts: list[str]
    notes: list[str]
    """Metrics that were disabled or skipped."""

    def summaries(self) -> list[MetricSummary]:
        """One for each metric."""
        return summaries(self.directory, self.definitions, self.hosts)

    def values(self) -> Iterator[MetricValue]:
        """All values, in the order in which they were found."""
        return read_values(self.directory, self.definitions, self.hosts)


def job_metrics(store: Store, name: str) -> JobMetrics:
    """Read them; `JobUnknownError` if there is no such job."""
    record, request = store.get(name), store.document(name, REQUEST)
    platform = showing(record.platform)
    definitions = platform.metrics(request)
    directory = store.directory(name)
    return JobMetrics(
        directory=directory,
        definitions=definitions,
        hosts=platform.host_names(record, lambda: request),
        notes=_slow_regex_notes(read_state(directory), definitions),
    )
