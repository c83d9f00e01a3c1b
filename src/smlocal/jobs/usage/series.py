"""The usage of one host as a CSV file. Lines are only appended, so the file can be read while the job runs."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field, fields
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.usage import ContainerUsage, Point

_COLUMNS = [each.name for each in fields(Point)]
_COMMENT = "# "


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSeries:
    """All that was measured on one host so far."""

    containers: tuple[ContainerUsage, ...] = ()
    notes: tuple[str, ...] = ()
    """Figures that could not be measured, and why."""
    held: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes on disk by folder of the last container, at its end; None where they were not counted."""

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of all containers."""
        return tuple(point for container in self.containers for point in container.points)


class SeriesFile:
    """Appends to a series. If the disk is full it stops: that must not stop the job."""

    def __init__(self, path: str) -> None:
        """The file is created with its first line."""
        self._path = path
        self._written = False
        self._failed = False

    def begin(self, container: str, began: float) -> None:
        """The points that follow belong to this container."""
        self._comment({"container": container, "began": round(began, 2)})

    def add(self, point: Point) -> None:
        """One more point."""
        self._append(",".join(_cell(getattr(point, column)) for column in _COLUMNS))

    def note(self, text: str) -> None:
        """Why something could not be measured."""
        self._comment({"note": " ".join(text.split())})

    def hold(self, folders: Mapping[str, int | None]) -> None:
        """The sizes of the container's folders at its end."""
        self._comment({"held": dict(folders)})

    def _comment(self, document: Mapping[str, Any]) -> None:
        self._append(_COMMENT + json.dumps(document))

    def _append(self, line: str) -> None:
        if self._failed:
            return
        try:
            with suppress(FileExistsError):  # not the folder of the job: it may have been removed
                os.mkdir(os.path.dirname(self._path))
            with open(self._path, "ab", buffering=0) as file:
                # After a crash the file may end within a line.
                if not self._written:
                    line = f"{'' if file.tell() else ','.join(_COLUMNS)}\n{line}"
                file.write(f"{line}\n".encode())
            self._written = True
        except OSError:
            self._failed = True


def _cell(number: Any) -> str:
    return "" if number is None else f"{number:.3f}" if isinstance(number, float) else str(number)


def read_series(path: str) -> UsageSeries:
    """Everything in a file. Raises `OSError` if there is none."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return parse_series(line for line in file if line.endswith("\n"))


def parse_series(lines: Iterable[str]) -> UsageSeries:
    """Read the lines of a file. One that a crash has cut off is left out."""
    containers: list[tuple[str, float, list[Point]]] = []
    notes: list[str] = []
    held: dict[str, int | None] = {}
    for line in lines:
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            if line[:1].isdigit():
                point = _point(line)
                if not containers:  # the line that began it is damaged
                    containers.append(("", point.at, []))
                containers[-1][2].append(point)
                continue
            found = json.loads(line.removeprefix(_COMMENT))
            if "note" in found:
                notes.append(str(found["note"]))
            elif "held" in found:
                held = dict(found["held"])
            elif not containers or containers[-1][0] != found["container"]:
                containers.append((found["container"], float(found["began"]), []))
                held = {}
    usage = (ContainerUsage(began=began, points=tuple(points)) for _, began, points in containers if points)
    return UsageSeries(containers=tuple(usage), notes=tuple(notes), held=held)


def _point(line: str) -> Point:
    cells = zip(_COLUMNS, line.rstrip("\n").split(","), strict=True)
    return Point(**{name: _number(cell) for name, cell in cells})


def _number(cell: str) -> Any:
    return None if not cell else float(cell) if "." in cell else int(cell)
