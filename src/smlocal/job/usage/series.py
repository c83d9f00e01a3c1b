"""The file of one host's usage: lines of numbers that are only ever appended, so that it can be read at any time."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field

from smlocal.contract.usage import ContainerUsage, Point
from smlocal.quick_dataclass import dataclass

_COLUMNS = (
    "at,cpu_seconds,cpu_cores,memory,memory_with_cache,disk_read,disk_written,network_received,network_sent,"
    "gpu_percent,gpu_memory"
)
_BEGAN = "# container "
_NOTE = "# note "
_HELD = "# held "
_UNCOUNTED = "?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """All that is known of one host so far."""

    containers: tuple[ContainerUsage, ...] = ()
    last_container: str = ""
    """Id of the container that the last points are of."""
    notes: tuple[str, ...] = ()
    """What could not be measured, and why."""
    held: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes on disk by folder, in the container's words, at the end of the last container; None if not counted."""

    @property
    def points(self) -> tuple[Point, ...]:
        """Of all containers."""
        return tuple(point for container in self.containers for point in container.points)


class SeriesFile:
    """Appends to a series. A disk that is full ends it: usage is never an obstacle to the job."""

    def __init__(self, path: str) -> None:
        """Nothing is made before there is something to write."""
        self._path = path
        self._broken = False

    def begin(self, container: str, began: float) -> None:
        """What follows is of this container; once more of the same one says nothing."""
        with suppress(OSError):
            known = read_series(self._path)
            if known.last_container == container:
                return
        self._append(f"{_BEGAN}{container} {began:.2f}")

    def add(self, point: Point) -> None:
        """One more point."""
        numbers = (
            point.disk_read,
            point.disk_written,
            point.network_received,
            point.network_sent,
            point.gpu_percent,
            point.gpu_memory,
        )
        self._append(
            f"{point.at:.2f},{point.cpu_seconds:.3f},{point.cpu_cores:.3f},{point.memory},{point.memory_with_cache},"
            + ",".join("" if number is None else str(number) for number in numbers)
        )

    def note(self, text: str) -> None:
        """Why something could not be measured."""
        self._append(_NOTE + " ".join(text.split()))

    def hold(self, folders: Mapping[str, int | None]) -> None:
        """What the container's folders hold at its end."""
        for folder, size in folders.items():
            self._append(f"{_HELD}{_UNCOUNTED if size is None else size} {' '.join(folder.splitlines())}")

    def _append(self, line: str) -> None:
        if self._broken:
            return
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o644)
            try:
                data = f"{line}\n".encode(errors="backslashreplace")
                os.write(descriptor, self._mended(descriptor) + data)
            finally:
                os.close(descriptor)
        except OSError:
            self._broken = True

    @staticmethod
    def _mended(descriptor: int) -> bytes:
        """What has to come first: the names of the columns, or the end of a line that was cut off by a crash."""
        size = os.fstat(descriptor).st_size
        if size == 0:
            return f"{_COLUMNS}\n".encode()
        return b"" if os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"


def read_series(path: str) -> Series:
    """Everything in a file; a line that is not whole is left out. Raises `OSError` when there is no such file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return parse_series(line.rstrip("\n") for line in file if line.endswith("\n"))


def parse_series(lines: Iterable[str]) -> Series:
    """Read the lines of a file; one that a crash has cut off is left out."""
    reader = _Reader()
    for line in lines:
        with suppress(ValueError):
            reader.take(line)
    return reader.series


@dataclass(kw_only=True, slots=True)
class _Reader:
    """What has been read so far."""

    containers: list[ContainerUsage] = field(default_factory=list)
    container: str = ""
    began: float | None = None
    points: list[Point] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    held: dict[str, int | None] = field(default_factory=dict)

    @property
    def series(self) -> Series:
        self._end()
        return Series(
            containers=tuple(self.containers),
            last_container=self.container,
            notes=tuple(self.notes),
            held=self.held,
        )

    def take(self, line: str) -> None:
        """Take in one line; raises `ValueError` when it makes no sense."""
        if line.startswith(_BEGAN):
            self._end()
            self.container, self.began, self.held = "", None, {}
            self.container, start = line.removeprefix(_BEGAN).split()
            self.began = float(start)
        elif line.startswith(_NOTE):
            self.notes.append(line.removeprefix(_NOTE))
        elif line.startswith(_HELD):
            size, _, folder = line.removeprefix(_HELD).partition(" ")
            self.held[folder] = None if size == _UNCOUNTED else int(size)
        elif line[:1].isdigit():
            self.points.append(_point(line))

    def _end(self) -> None:
        if self.points:
            began = self.points[0].at if self.began is None else self.began
            self.containers.append(ContainerUsage(began=began, points=tuple(self.points)))
        self.points = []


def _point(line: str) -> Point:
    at, spent, cores, memory, with_cache, *others = line.split(",")
    read, written, received, sent, percent, gpu_memory = (int(other) if other else None for other in others)
    return Point(
        at=float(at),
        cpu_seconds=float(spent),
        cpu_cores=float(cores),
        memory=int(memory),
        memory_with_cache=int(with_cache),
        disk_read=read,
        disk_written=written,
        network_received=received,
        network_sent=sent,
        gpu_percent=percent,
        gpu_memory=gpu_memory,
    )
