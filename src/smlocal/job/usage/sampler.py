"""Looks at one container again and again, and writes down what it sees."""

import time
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from smlocal.engine.interface import Engine
from smlocal.engine.statistics import Statistics
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.usage.folders import held
from smlocal.job.usage.sampling_rate import FIRST, pause, spacing
from smlocal.job.usage.series import SeriesFile
from smlocal.job.usage.window import Window
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.job.usage.gpus import GpuReader

_NOT_FOUND = 404
_CONFLICT = 409
_TOLD_AFTER = 2
"""The first refusal may be the container's end."""
_LEAST = 0.1
"""Seconds between an answer and the next question."""
_MOMENT = 0.01
"""Seconds, for clocks that are a little apart."""


@dataclass(kw_only=True, slots=True)
class Looking:
    """One container's. Only `ask` takes time; nothing raises."""

    engine: Engine
    container: str
    path: str
    gpus: Sequence[str] | None
    """Their ids; empty for all of the machine's, None for a container without."""
    folders: Sequence[tuple[str, str]]
    """Counted at the end: (here, there)."""
    started_before: bool
    _series: SeriesFile = field(init=False)
    _window: Window = field(init=False)
    _gpus: "GpuReader | None" = field(init=False)
    _offset: float = field(init=False)
    _kept_at: float = field(init=False)
    _asked_at: float = field(init=False)
    _refusals: int = 0
    _seen: bool = False

    def __post_init__(self) -> None:
        # Times are steps of the monotonic clock from one reading of the other, which may be set.
        self._offset = time.time() - time.monotonic()
        began = self._started() if self.started_before else self._now() - FIRST
        self._window = Window(began=began, fresh=not self.started_before)
        self._series = SeriesFile(self.path)
        self._gpus = None
        if self.gpus is not None:
            from smlocal.job.usage.gpus import GpuReader

            self._gpus = GpuReader(self.gpus)
        self._kept_at = self._asked_at = began

    @property
    def pause(self) -> float:
        """Seconds until the next look; an engine may take as long to answer, and then is asked again at once."""
        return max(_LEAST, pause(self._now() - self._window.began) - (self._now() - self._asked_at))

    def ask(self) -> Statistics | str | None:
        """What the engine says of the container: numbers, nothing of one that has ended, or why it says nothing."""
        self._asked_at = self._now()
        try:
            return self.engine.statistics(self.container)
        except (EngineError, MachineNotReadyError) as error:
            gone = isinstance(error, EngineError) and error.status in {_NOT_FOUND, _CONFLICT}
            return None if gone else error.sentence
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return f"its usage cannot be read: {type(error).__name__}: {error}"

    def keep(self, seen: Statistics | str | None) -> None:
        """Write down what was seen, when it is time for another point."""
        if isinstance(seen, str):
            self._refusals += 1
            if self._refusals == _TOLD_AFTER:
                self._series.note(f"The engine did not report its usage: {seen}")
            return
        if seen is None:
            return
        now = self._now()
        if not self._seen:
            self._seen = True
            self._series.begin(self.container, self._window.began)
        self._window.look(now, seen, self._gpus.look() if self._gpus is not None else None)
        if now - self._kept_at >= spacing(now - self._window.began) - _MOMENT:
            self._keep_point()

    def finish(self) -> None:
        """Keep what is left, and what the folders hold."""
        self.release()
        self._keep_point()
        if self._seen:
            self._series.hold(held(self.folders))

    def release(self) -> None:
        """Give back what was held for looking."""
        if self._gpus is not None:
            self._gpus.close()

    def _keep_point(self) -> None:
        point = self._window.close()
        if point is not None:
            self._series.add(point)
            self._kept_at = point.at

    def _now(self) -> float:
        return time.monotonic() + self._offset

    def _started(self) -> float:
        """When a container started that was taken up; now, where the engine does not tell."""
        from datetime import datetime

        try:
            return datetime.fromisoformat(self.engine.state(self.container).started_at).timestamp()
        except (EngineError, MachineNotReadyError, ValueError):
            return self._now() - FIRST
