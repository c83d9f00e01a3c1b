"""The metrics of a running job, for its supervisor: begun with the log, and never waited for too long."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from smlocal.contract.metrics.values import MOST_OVERRUNS, OVERRUN_SECONDS, MetricDefinition, final_metric_data
from smlocal.job.metrics.summary import MetricSummary, summaries
from smlocal.job.metrics.values import read_state
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    import subprocess

PATIENCE_SECONDS: Final = 10.0
"""When the containers have ended, a reader that does not get on gets this long."""
MOST_SECONDS: Final = 60.0
"""One that does, this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReport:
    """What became of the metrics of a job."""

    final: list[dict[str, Any]] = field(default_factory=list)
    """FinalMetricDataList."""
    summaries: list[MetricSummary] = field(default_factory=list)
    """Of the metrics that have values."""
    notes: list[str] = field(default_factory=list)
    """What was switched off, passed over or not read."""


@dataclass(kw_only=True, slots=True)
class MetricsWatch:
    """Has a process of its own read the logs, from the first word on that is in them."""

    job_directory: str
    definitions: Sequence[MetricDefinition]
    """Without any, nothing is begun."""
    logs: Mapping[str, str]
    """Path of each host's log, in host order."""
    patience: float = PATIENCE_SECONDS
    _lock: Lock = field(default_factory=Lock)
    _process: "subprocess.Popen[bytes] | None" = None
    _words: int = -1
    """Where the reader is told of something new."""
    _trouble: str | None = None
    _notes: list[str] = field(default_factory=list)

    def wrote(self) -> None:
        """Say that a log has grown; from any thread, and without waiting."""
        if not self.definitions:
            return
        with self._lock:
            if self._process is None and self._trouble is None:
                self._begin()
            if self._words >= 0:
                # A full pipe says enough, and of a dead reader the end will tell.
                with suppress(OSError):
                    os.write(self._words, b"+")

    def finish(self) -> MetricsReport:
        """Wait until everything is read that was written, but not too long; nothing here fails the job."""
        if not self.definitions or not any(map(os.path.exists, self.logs.values())):
            return MetricsReport()
        self.wrote()
        ended = self._ended()
        if ended:
            self._notes.append(f"the metrics process ended with {ended}; a new one read the logs from the start")
            with self._lock:
                self._begin()
            ended = self._ended()
        if ended:
            self._trouble = f"the metrics process ended with {ended}"
        try:
            found = [each for each in summaries(self.job_directory, self.definitions, list(self.logs)) if each.count]
        except OSError as error:
            self._trouble, found = self._trouble or str(error), []
        final = final_metric_data([each.last for each in found if each.last is not None])
        return MetricsReport(final=final, summaries=found, notes=self._all_notes())

    def _begin(self) -> None:
        import json
        import subprocess
        import sys

        definitions = [{"Name": each.name, "Regex": each.regex} for each in self.definitions]
        task = json.dumps({"Directory": self.job_directory, "Definitions": definitions, "Logs": dict(self.logs)})
        reading, self._words = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "smlocal.job.metrics.reader"],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us
            )
            # The task may be more than a pipe holds: the reader is waited for here, but nowhere else.
            data = memoryview(len(task).to_bytes(4, "big") + task.encode("ascii"))
            while data:
                data = data[os.write(self._words, data) :]
            os.set_blocking(self._words, False)
        except OSError as error:
            self._trouble = f"the metrics process could not start: {error}"
            self._hang_up()
        finally:
            os.close(reading)

    def _hang_up(self) -> None:
        if self._words >= 0:
            os.close(self._words)
            self._words = -1

    def _ended(self) -> int:
        """Let the reader come to its end and return its exit code; one that takes too long is ended."""
        with self._lock:
            self._hang_up()
        process = self._process
        if process is None:
            return 0
        from subprocess import TimeoutExpired

        began, before = time.monotonic(), None
        while True:
            try:
                return process.wait(self.patience)
            except TimeoutExpired:
                now = read_state(self.job_directory).get("Read")
                if now == before or time.monotonic() - began > MOST_SECONDS:
                    break
                before = now
        process.kill()
        process.wait()
        self._trouble = f"the logs were not read completely {time.monotonic() - began:.1f} s after the end"
        return 0

    def _all_notes(self) -> list[str]:
        state = read_state(self.job_directory)
        notes = list(self._notes)
        if self._trouble is not None:
            read = state.get("Read", {})
            sizes = {host: os.path.getsize(path) for host, path in self.logs.items() if os.path.exists(path)}
            parts = [f"{read.get(host, 0)} of {size} bytes of {host}'s log" for host, size in sizes.items()]
            notes.append(f"metrics are missing: {self._trouble}; read: {', '.join(parts)}")
        return notes + overrun_notes(state, self.definitions)


def overrun_notes(state: Mapping[str, Any], definitions: Sequence[MetricDefinition]) -> list[str]:
    """A word on each regex that took too long."""
    notes = []
    for index, lines in state.get("Overruns", {}).items():
        name, limit = definitions[int(index)].name, f"{OVERRUN_SECONDS * 1000:g} ms"
        if len(lines) >= MOST_OVERRUNS:
            what = f"the metric {name} was disabled: its regex took more than {limit} for each of {len(lines)} lines"
        else:
            passed = "1 line was" if len(lines) == 1 else f"{len(lines)} lines were"
            what = f"{passed} skipped for the metric {name}: its regex took more than {limit}"
        notes.append(f"{what}, such as {lines[0]!r}")
    return notes
