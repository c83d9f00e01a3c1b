"""Samples what one container uses, and writes points to the file of its host.

Samples and points become rarer the longer a container runs, so that neither their cost nor their number grows much.
"""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from smlocal.engine.interface import Engine
from smlocal.engine.statistics import Statistics
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.usage.folder_sizes import folder_sizes
from smlocal.job.usage.point_builder import PointBuilder
from smlocal.job.usage.series import SeriesFile

if TYPE_CHECKING:
    from smlocal.job.usage.gpu_usage import GpuReader

_ENDED = {404, 409}
"""HTTP statuses of an engine for a container that does not run any more."""
_ERRORS_NOTED = 2
"""A single error may be due to the container's end."""
_MIN_PAUSE, _MAX_PAUSE = 0.1, 5.0
_SAMPLES = 30
"""The pause between samples is a thirtieth of the time that has passed."""
_POINTS = 200
"""A point covers a two-hundredth of it: some 1,050 points in a day, 1,700 in four weeks."""
_TOLERANCE = 0.01
"""Seconds by which a point may be early."""


def sampling_pause(elapsed: float) -> float:
    """Seconds between two samples of a container that has run for `elapsed` seconds."""
    return min(_MAX_PAUSE, max(1.0, elapsed / _SAMPLES))


def point_seconds(elapsed: float) -> float:
    """The seconds that one point covers then."""
    return elapsed / _POINTS


class Sampler:
    """Of one container. Only making it and `ask` take time; nothing raises."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        *,
        path: str,
        gpus: Sequence[str] | None,
        folders: Sequence[tuple[str, str]],
        elapsed: float | None,
    ) -> None:
        """The container has run for `elapsed` seconds; None if only the engine knows.

        `gpus`: their ids; empty for all of the machine, None for a container without GPUs.
        `folders`: (here, in the container), whose sizes are kept at the end.
        """
        self._engine = engine
        self._container = container
        self._gpus = gpus
        self._folders = folders
        # Times are differences of the monotonic clock, since the other one may be set.
        self._offset = time.time() - time.monotonic()
        began = self._started() if elapsed is None else self._now() - elapsed
        self._points = PointBuilder(began=began, from_start=elapsed is not None)
        self._series = SeriesFile(path)
        self._gpu_reader: GpuReader | None = None
        self._point_at = self._asked_at = began
        self._errors = 0
        self._begun = False

    @property
    def pause(self) -> float:
        """Seconds until the next sample; less if the engine took long to answer."""
        asked = self._now() - self._asked_at
        return max(_MIN_PAUSE, sampling_pause(self._now() - self._points.began) - asked)

    def ask(self) -> Statistics | str | None:
        """What the engine reports: numbers, None for a container that has ended, or why there are no numbers."""
        self._asked_at = self._now()
        try:
            return self._engine.statistics(self._container)
        except (EngineError, MachineNotReadyError) as error:
            return None if isinstance(error, EngineError) and error.status in _ENDED else error.sentence
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return f"its answer cannot be read: {type(error).__name__}: {error}"

    def keep(self, sample: Statistics | str | None) -> None:
        """Take in a sample, and write a point if it is time for one."""
        if isinstance(sample, str):
            self._errors += 1
            if self._errors == _ERRORS_NOTED:
                self._series.note(f"The engine did not report its usage: {sample}")
            return
        if sample is None:
            return
        now = self._now()
        if not self._begun:
            self._begun = True
            self._series.begin(self._container, self._points.began)
            if self._gpus is not None:
                from smlocal.job.usage.gpu_usage import GpuReader

                self._gpu_reader = GpuReader(self._gpus)
        self._points.add(now, sample, self._gpu_reader.read() if self._gpu_reader is not None else None)
        if now - self._point_at >= point_seconds(now - self._points.began) - _TOLERANCE:
            self._write_point()

    def finish(self) -> None:
        """Write what is left, and the sizes of the folders."""
        if self._gpu_reader is not None:
            self._gpu_reader.close()
        self._write_point()
        if self._begun:
            self._series.hold(folder_sizes(self._folders))

    def _write_point(self) -> None:
        point = self._points.take()
        if point is not None:
            self._series.add(point)
            self._point_at = point.at

    def _now(self) -> float:
        return time.monotonic() + self._offset

    def _started(self) -> float:
        """When the container started, by the engine; now, if it does not say."""
        try:
            return datetime.fromisoformat(self._engine.state(self._container).started_at).timestamp()
        except (EngineError, MachineNotReadyError, ValueError):
            return self._now()
