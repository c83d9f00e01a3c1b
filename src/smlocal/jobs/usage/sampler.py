"""Samples what one container uses, and writes points to the file of its host.

Samples and points become rarer the longer a container runs, so that neither their cost nor their number grows much.
"""

import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Engine, Statistics
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.usage.series import SeriesFile
from smlocal.terms.usage import Point

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
_SECONDS = 2
_PIECE = 64 * 1024
_MIB = 1024 * 1024
_FIELDS = 2
_HIGHEST = ("cpu_cores", "memory", "memory_with_cache", "gpu_percent", "gpu_memory")
"""A point has the highest value of these; the others are counters."""
_MIN_SECONDS = 0.2
"""Between two samples: the clocks are not exact enough to compute the cores in use over less."""
_MAX_ENTRIES = 10_000
"""Counted in 30 ms: the end of a job waits for it."""
_BLOCK = 512


def sampling_pause(elapsed: float) -> float:
    """Seconds between two samples of a container that has run for `elapsed` seconds."""
    return min(_MAX_PAUSE, max(1.0, elapsed / _SAMPLES))


def point_seconds(elapsed: float) -> float:
    """The seconds that one point covers then."""
    return elapsed / _POINTS


class Sampler:
    """The sampler of one container. Only making it and `ask` take time; nothing raises."""

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
        """The engine's report: numbers, None for a container that has ended, or why there are no numbers."""
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
                self._gpu_reader = GpuReader(self._gpus)
        self._points.add(now, sample, self._gpu_reader.read() if self._gpu_reader is not None else None)
        if now - self._point_at >= point_seconds(now - self._points.began) - _TOLERANCE:
            self._write_point()

    def finish(self) -> None:
        """Write the rest, and the sizes of the folders."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuUsage:
    """The busiest of the job's GPUs."""

    percent: int
    memory: int
    """Bytes."""


class GpuReader:
    """Reads the output of `nvidia-smi`. There are no figures if it is not installed, or fails."""

    def __init__(self, ids: Sequence[str]) -> None:
        """Start it for the GPUs with these ids, or for all of them."""
        self._rest = b""
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [
                    "nvidia-smi",
                    "--query-gpu=utilization.gpu,memory.used",
                    "--format=csv,noheader,nounits",
                    f"--loop={_SECONDS}",
                    *([f"--id={','.join(ids)}"] if ids else []),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the job; if smlocal is killed, it ends with its next line
            )
            if self._process.stdout is not None:
                os.set_blocking(self._process.stdout.fileno(), False)

    def read(self) -> GpuUsage | None:
        """The highest figures since the last call; None if there are no new ones."""
        if self._process is None or self._process.stdout is None:
            return None
        with suppress(OSError):  # nothing to read yet
            self._rest += os.read(self._process.stdout.fileno(), _PIECE)
        *lines, self._rest = self._rest.split(b"\n")
        return highest(lines)

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()


def highest(lines: Iterable[bytes]) -> GpuUsage | None:
    """The highest figures in lines of `percent, MiB`; a GPU without such figures is left out."""
    found = []
    for line in lines:
        fields = [field.strip() for field in line.split(b",")]
        if len(fields) == _FIELDS and all(field.isdigit() for field in fields):
            found.append((int(fields[0]), int(fields[1])))
    if not found:
        return None
    return GpuUsage(percent=max(percent for percent, _ in found), memory=max(mib for _, mib in found) * _MIB)


@dataclass(kw_only=True, slots=True)
class PointBuilder:
    """Collects the samples of one container."""

    began: float
    """When the container started, by the clock of `add`."""
    from_start: bool
    """True if it has been measured since its start."""
    _previous: Statistics | None = None
    _point: Point | None = None

    def add(self, now: float, sample: Statistics, gpu: GpuUsage | None) -> None:
        """Add the engine's figures, and those of the GPUs since the last sample."""
        cores = self._cores(now, sample)
        memory = max(sample.memory - sample.cache, self._memory_between(sample))
        if cores is not None:
            self._previous = sample
        point = Point(
            at=now,
            cpu_seconds=sample.cpu_seconds,
            cpu_cores=cores or 0.0,
            memory=memory,
            memory_with_cache=sample.memory if sample.memory_highest is None else sample.memory_highest,
            disk_read=sample.disk_read,
            disk_written=sample.disk_written,
            network_received=sample.network_received,
            network_sent=sample.network_sent,
            gpu_percent=None if gpu is None else gpu.percent,
            gpu_memory=None if gpu is None else gpu.memory,
        )
        if self._point is not None:
            point = replace(point, **{name: _highest(point, self._point, name) for name in _HIGHEST})
        self._point = point

    def take(self) -> Point | None:
        """Return the point and begin the next one. None if there was no sample."""
        point, self._point = self._point, None
        return point

    def _cores(self, now: float, sample: Statistics) -> float | None:
        """Cores in use since the last sample. None if that was too short ago."""
        if self._previous is None:
            used = sample.cpu_seconds / max(_MIN_SECONDS, now - self.began) if self.from_start else 0.0
        else:
            seconds = sample.at - self._previous.at
            if seconds < _MIN_SECONDS:
                return None
            used = (sample.cpu_seconds - self._previous.cpu_seconds) / seconds
        return min(max(0.0, used), sample.cpus or used)

    def _memory_between(self, sample: Statistics) -> int:
        """A peak between two samples: the kernel's new maximum, minus the larger file cache of the two."""
        if sample.memory_highest is None or (self._previous is None and not self.from_start):
            return 0
        known, cache = (self._previous.memory_highest or 0, self._previous.cache) if self._previous else (0, 0)
        return sample.memory_highest - max(cache, sample.cache) if sample.memory_highest > known else 0


def _highest(one: Point, other: Point, name: str) -> Any:
    return max((value for value in (getattr(one, name), getattr(other, name)) if value is not None), default=None)


def folder_sizes(folders: Iterable[tuple[str, str]]) -> dict[str, int | None]:
    """Bytes on disk of folders (here, in the container), by the latter; None if one cannot be counted."""
    sizes: dict[str, int | None] = {}
    left = _MAX_ENTRIES
    for path, target in folders:
        sizes[target] = None
        if left < 0:
            continue
        try:
            size, left = _size(path, left)
        except OSError:  # only root may read it, or it is on another machine
            continue
        if left >= 0:
            sizes[target] = size
    return sizes


def _size(top: str, left: int) -> tuple[int, int]:
    """The bytes below a folder, and how many entries may still be counted: negative if there are too many."""
    size = 0
    pending = [top]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                left -= 1
                if left < 0:
                    return size, left
                size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return size, left
