"""Which files are to be looked at, and when: soon after a change, but not each time where changes never end."""

import math
from dataclasses import field
from typing import Final

from smlocal.quick_dataclass import dataclass

SETTLE_SECONDS: Final = 0.1
"""After the first change, so that what belongs together is looked at together."""
AGAIN_SECONDS: Final = 1.0
"""Between two copies of the same file, at least; a large one is copied for no more than a tenth of the time."""
_SHARE = 10


@dataclass(kw_only=True, slots=True)
class Agenda:
    """Paths with the time from which on they are due, by a clock that only goes forward."""

    settle: float = SETTLE_SECONDS
    _due: dict[bytes, float] = field(default_factory=dict)
    _not_before: dict[bytes, float] = field(default_factory=dict)

    def add(self, path: bytes, now: float) -> None:
        """It may have changed."""
        if path not in self._due:
            self._due[path] = max(now + self.settle, self._not_before.get(path, 0.0))

    def put_off(self, path: bytes, until: float) -> None:
        """It cannot be copied now."""
        self._due[path] = until

    def copied(self, path: bytes, began: float, now: float) -> None:
        """So long did it take."""
        if len(self._not_before) > len(self._due) + 1000:
            self._not_before = {each: until for each, until in self._not_before.items() if until > now}
        self._not_before[path] = now + max(AGAIN_SECONDS, _SHARE * (now - began))

    @property
    def wake_at(self) -> float:
        """When the next path is due."""
        return min(self._due.values(), default=math.inf)

    def take(self, now: float) -> list[bytes]:
        """The paths that are due, in order; they are off the agenda."""
        due = sorted(path for path, at in self._due.items() if at <= now)
        for path in due:
            del self._due[path]
        return due

    def put_back(self, paths: list[bytes]) -> None:
        """There was no time for them."""
        for path in paths:
            self._due.setdefault(path, 0.0)
