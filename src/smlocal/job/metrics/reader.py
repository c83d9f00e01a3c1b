"""The process that takes metrics from the logs of a job: `python -P -m smlocal.job.metrics.reader`.

A regex of the user's may take all the time there is; here it takes none of the job's. On the standard input comes a
JSON document that says what to do, its length in four bytes before it; each byte after it says that there is something
new, and the end that there will be nothing more: then what is left is read, and this process ends.
"""

import json
import os
import select
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from smlocal.contract.metrics.values import MetricDefinition
from smlocal.job.metrics.guard import Guard
from smlocal.job.metrics.searcher import Searcher
from smlocal.job.metrics.tail import Tail
from smlocal.job.metrics.values import ValuesFile, write_state

_AGAIN_SECONDS: Final = 0.05
"""Who writes much says so only now and then; what came after the last word is found by looking once more."""
_STATE_SECONDS: Final = 1.0
_WORDS: Final = 1 << 16


@dataclass(kw_only=True)
class Reader:
    """Goes through all logs, again and again."""

    directory: str
    searcher: Searcher
    tails: dict[str, Tail]
    values: ValuesFile
    _told: float = field(default=0.0, init=False)

    def look(self, *, last: bool = False) -> bool:
        """Take what is new; True when there was anything."""
        before = [tail.position for tail in self.tails.values()]
        for host, tail in enumerate(self.tails.values()):
            for lines, at in tail.new(last=last):
                for definition, value in self.searcher.values(lines):
                    self.values.add(definition, host, at, value)
                self._tell_now_and_then()
        self.values.flush()
        if last:
            self._tell(finished=True)
        return before != [tail.position for tail in self.tails.values()]

    def _tell_now_and_then(self) -> None:
        now = time.monotonic()
        if now - self._told >= _STATE_SECONDS:
            self._told = now
            self.values.flush()
            self._tell(finished=False)

    def _tell(self, *, finished: bool) -> None:
        if self.values.superseded:
            sys.exit()  # the supervisor has died, and the reader of the next one does the same from the start
        overruns = {str(search.index): search.overruns for search in self.searcher.searches if search.overruns}
        read = {host: tail.position for host, tail in self.tails.items()}
        write_state(self.directory, {"Read": read, "Overruns": overruns, "Finished": finished})


def read_metrics(task: dict[str, Any], words: int) -> None:
    """Read until the descriptor `words` ends, and then to the end of the logs."""
    definitions = [MetricDefinition(name=each["Name"], regex=each["Regex"]) for each in task["Definitions"]]
    with Guard() as guard, closing(ValuesFile(task["Directory"])) as values:
        reader = Reader(
            directory=task["Directory"],
            searcher=Searcher(definitions, guard),
            tails={host: Tail(path) for host, path in task["Logs"].items()},
            values=values,
        )
        anything = True
        while True:
            if select.select([words], [], [], _AGAIN_SECONDS if anything else None)[0] and not os.read(words, _WORDS):
                break
            anything = reader.look()
        reader.look(last=True)


def _exactly(descriptor: int, size: int) -> bytes:
    """No more: what comes after it must stay where `select` sees it."""
    data = b""
    while len(data) < size and (piece := os.read(descriptor, size - len(data))):
        data += piece
    return data


if __name__ == "__main__":
    length = int.from_bytes(_exactly(0, 4), "big")
    read_metrics(json.loads(_exactly(0, length)), 0)
