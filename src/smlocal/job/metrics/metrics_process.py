"""The process that searches the logs of a job for metrics: `python -P -m smlocal.job.metrics.metrics_process`.

A regex may take any time, and Python runs nothing else in its process meanwhile. The first line of standard input is a
JSON document with the task. When standard input ends, this process reads the logs to their end and exits.
"""

import json
import select
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from smlocal.contract.metrics.metric_values import MetricDefinition
from smlocal.job.logs.log_readers import LogReader
from smlocal.job.metrics.found_values import ValuesFile, write_state
from smlocal.job.metrics.searcher import Searcher, SearchLimit

_MIN_PAUSE, _MAX_PAUSE = 0.05, 1.0
"""Seconds between two looks at the logs: longer the longer nothing is written."""
_STATE_SECONDS: Final = 1.0


@dataclass(kw_only=True)
class MetricsProcess:
    """Reads all logs as they grow, and appends the values to a file."""

    directory: str
    searcher: Searcher
    logs: dict[str, LogReader]
    values: ValuesFile
    _state_written: float = field(default=0.0, init=False)

    def run(self) -> None:
        """Read until standard input ends, then to the end of the logs."""
        pause = _MIN_PAUSE
        while not select.select([sys.stdin], [], [], pause)[0]:
            pause = _MIN_PAUSE if self.read_new() else min(2 * pause, _MAX_PAUSE)
        self.read_new(last=True)
        self._write_state()

    def read_new(self, *, last: bool = False) -> bool:
        """Search the new lines. True if there was anything new."""
        before = self._positions()
        for host, log in enumerate(self.logs.values()):
            for lines, at in log.new_lines(last=last):
                for definition, value in self.searcher.values(lines):
                    self.values.add(definition, host, at, value)
                if time.monotonic() - self._state_written >= _STATE_SECONDS:
                    self._write_state()
        self.values.flush()
        return before != self._positions()

    def _positions(self) -> dict[str, int]:
        return {host: log.position for host, log in self.logs.items()}

    def _write_state(self) -> None:
        self.values.flush()
        if self.values.superseded:
            sys.exit()  # the supervisor has died, and that of its successor reads the logs from the start
        self._state_written = time.monotonic()
        slow = {str(search.index): search.slow_lines for search in self.searcher.searches if search.slow_lines}
        write_state(self.directory, {"Read": self._positions(), "SlowLines": slow})


def run_metrics_process(task: dict[str, Any]) -> None:
    """Carry out a task."""
    definitions = [MetricDefinition(name=each["Name"], regex=each["Regex"]) for each in task["Definitions"]]
    with SearchLimit() as limit, closing(ValuesFile(task["Directory"])) as values:
        MetricsProcess(
            directory=task["Directory"],
            searcher=Searcher(definitions, limit),
            logs={host: LogReader(path) for host, path in task["Logs"].items()},
            values=values,
        ).run()


if __name__ == "__main__":
    run_metrics_process(json.loads(sys.stdin.buffer.readline()))
