"""Which files are copied next, and when: soon after a change, but not too often if a file changes all the time."""

import math
from dataclasses import field
from typing import Final

from smlocal.base.quick_dataclass import dataclass

SETTLE_SECONDS: Final = 0.1
"""From the first change of a file to its copy, so that several changes are copied together."""
REPEAT_SECONDS: Final = 1.0
"""Least time between two copies of a file. Large files are copied for at most a tenth of the time."""
_SHARE = 10


@dataclass(kw_only=True, slots=True)
class Schedule:
    """Paths and the times at which they are due, on a monotonic clock."""

    _due: dict[bytes, float] = field(default_factory=dict)
    _not_before: dict[bytes, float] = field(default_factory=dict)

    def add(self, path: bytes, now: float) -> None:
        """The file may have changed."""
        if path not in self._due:
            self._due[path] = max(now + SETTLE_SECONDS, self._not_before.get(path, 0.0))

    def postpone(self, path: bytes, until: float) -> None:
        """The file cannot be copied before `until`."""
        self._due[path] = until

    def copied(self, path: bytes, began: float, now: float) -> None:
        """The file was copied from `began` to `now`."""
        if len(self._not_before) > len(self._due) + 1000:
            self._not_before = {each: until for each, until in self._not_before.items() if until > now}
        self._not_before[path] = now + max(REPEAT_SECONDS, _SHARE * (now - began))

    @property
    def next_due(self) -> float:
        """When the next path is due."""
        return min(self._due.values(), default=math.inf)

    def take_due(self, now: float) -> list[bytes]:
        """Remove the paths that are due, and return them sorted."""
        due = sorted(path for path, at in self._due.items() if at <= now)
        for path in due:
            del self._due[path]
        return due

    def put_back(self, paths: list[bytes]) -> None:
        """These paths were taken but not processed."""
        for path in paths:
            self._due.setdefault(path, 0.0)
