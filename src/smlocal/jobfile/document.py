"""The data of a job file, the line of each part, and how large it may be."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobFileSyntaxError, RequestInvalidError
from smlocal.terms.json_size import MOST_PARTS
from smlocal.terms.validation.violation import Path, dotted

MOST_LEVELS: Final = 50
MOST_TEXT: Final = 10 << 20
"""Characters of all keys and strings, including those that aliases repeat: as many as a file may have bytes."""
ALIAS: Final = "Look for an alias (*name) that repeats or contains itself."
NO_JOB: Final = "Is this a job file? No request is this large."
_LONGEST_KEY: Final = 80
_ELSEWHERE: Final = "Elsewhere"
_LOCAL_OF_PARTS: Final = "LocalOfParts"


@dataclass(frozen=True, kw_only=True, slots=True)
class RanBefore:
    """The earlier job whose request this is."""

    job: str
    image: str
    image_id: str
    """The id of the image that it ran."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """The document is a saved description of a job, and no job file: it may name no path of this machine."""

    own_job: str = ""
    """The job of this machine that it describes, if there is one."""
    allowed: frozenset[tuple[Path, str]] = frozenset()
    """Local paths that it may name nevertheless, each with its member."""
    checked: bool = False
    """A recorded request: its local paths are those that the user gave when the job was made."""


class TextPlaces(Protocol):
    """The lines of the parts of a parsed text; used only if there is a mistake."""

    def lines(self) -> Mapping[Path, int]:
        """Path to line, counted from 1; for a part with a key, the key's line."""

    def texts(self) -> Mapping[Path, str]:
        """Path to the text of a number or another plain value, as it is in the file."""


class Document:
    """The data of a job file, with overrides from flags or keywords."""

    def __init__(self, data: dict[str, Any], *, name: str, directory: str, places: TextPlaces | None = None) -> None:
        """`directory` is what relative paths in the data are relative to."""
        self.data = data
        self.name = name
        self.directory = directory
        self.overrides = "command line"
        """The name of the overrides in messages."""
        self.ran_before: RanBefore | None = None
        self.elsewhere: Elsewhere | None = None
        self.empty_source_fails = False
        """True if a channel without objects fails the download of the job, as data does that is gone when the job
        begins. Else no job is made."""
        self.local_of_parts: Sequence[Mapping[str, Any]] = ()
        """In place of `Local`, one for each definition of a tuning job: a server has chosen folders for each."""
        self._places = places
        self._lines: Mapping[Path, int] | None = None
        self._texts: Mapping[Path, str] | None = None
        self._overridden: list[tuple[Path, str]] = []

    def line(self, path: Path) -> int | None:
        """The line of a part; None for an override, and if there is no such part."""
        if self._origin(path) is not None or self._places is None:
            return None
        if self._lines is None:
            self._lines = self._places.lines()
        return self._lines.get(path)

    def written(self, path: Path) -> str | None:
        """A plain value as it is written in the file, `010` and not 10; None for an override."""
        if self._origin(path) is not None or self._places is None:
            return None
        if self._texts is None:
            self._texts = self._places.texts()
        return self._texts.get(path)

    def nearest_line(self, path: Path) -> int | None:
        """The line of a part, or of the nearest existing part around it; None for an override."""
        lengths = () if self._origin(path) is not None else range(len(path), -1, -1)
        return next((line for length in lengths if (line := self.line(path[:length])) is not None), None)

    def where(self, path: Path) -> str:
        """`job.yaml:12`, to print before a message."""
        origin = self._origin(path)
        if origin is not None:
            return origin
        line = self.nearest_line(path)
        return self.name if line is None else f"{self.name}:{line}"

    def blamed(self, paths: Iterable[Path]) -> str:
        """`job.yaml`, or the command line if all parts are from there, or both."""
        origins = dict.fromkeys(self._origin(path) for path in paths)
        others = [f"the {origin}" for origin in origins if origin is not None]
        own = f"the {self.name}" if self.name == self.overrides else self.name
        return " and ".join(dict.fromkeys([own] * (None in origins or not others) + others))

    def set(self, path: Path, value: Any) -> None:
        """Override a value. Missing maps above it are made, and a list may grow by one element."""
        target: Any = self.data
        for depth, step in enumerate(path):
            last = depth == len(path) - 1
            if isinstance(target, dict):
                if last:
                    target[step] = value
                elif target.get(step) is None:
                    target[step] = {}
            elif isinstance(target, list) and isinstance(step, int) and step <= len(target):
                if step == len(target):
                    target.append({})
                if last:
                    target[step] = value
            else:
                raise RequestInvalidError(
                    f"{dotted(path)} cannot be set: {dotted(path[:depth])} is neither a map nor a list",
                    details=[self.where(path[:depth])],
                )
            if not last:
                target = target[step]
        self._overridden.append((path, self.overrides))

    def with_data(self, data: dict[str, Any]) -> "Document":
        """Another document, whose parts have the lines of the parts of this one at the same paths."""
        other = Document(data, name=self.name, directory=self.directory, places=self._places)
        other.overrides, other._overridden = self.overrides, self._overridden
        return other

    def is_overridden(self, path: Path) -> bool:
        """True if this part is not from the document itself."""
        return self._origin(path) is not None

    def record(self) -> dict[str, Any]:
        """The parts to store, for `recorded_document`."""
        elsewhere = {} if self.elsewhere is None else {_ELSEWHERE: True}
        parts = {_LOCAL_OF_PARTS: list(self.local_of_parts)} if self.local_of_parts else {}
        return {"Data": self.data, "File": self.name, "Directory": self.directory, **elsewhere, **parts}

    def has(self, path: Path) -> bool:
        """True if the document says anything here."""
        target: Any = self.data
        for step in path:
            if isinstance(target, list) and isinstance(step, int):
                target = target[step] if step < len(target) else None
            else:
                target = target.get(step) if isinstance(target, dict) else None
        return target is not None

    def _origin(self, path: Path) -> str | None:
        """The origin of the value that was laid over the file; None for the file's own values."""
        return next((by for given, by in reversed(self._overridden) if path[: len(given)] == given), None)


def recorded_document(recorded: Mapping[str, Any], *, name: str | None = None) -> Document:
    """The document that was stored with a job, under its own name or another."""
    document = Document(dict(recorded["Data"]), name=name or recorded["File"], directory=recorded["Directory"])
    document.elsewhere = Elsewhere(checked=True) if recorded.get(_ELSEWHERE) else None
    document.local_of_parts = recorded.get(_LOCAL_OF_PARTS) or ()
    return document


class TooLargeForARequestError(JobFileSyntaxError):
    """A document has too many parts, or too many levels: more than the request of a job may have."""


def too_large_for_a_request(
    name: str,
    *,
    deep: bool,
    details: Sequence[str],
    remedy: str = NO_JOB,
    parts: int = MOST_PARTS,
    levels: int = MOST_LEVELS,
) -> TooLargeForARequestError:
    """The error for a document with too many parts, or too many levels; `parts` and `levels` are the limits."""
    what = f"more than {levels} levels deep" if deep else f"more than {parts:,} parts"
    return TooLargeForARequestError(f"{name} is too large for a request: {what}", details=details, remedy=[remedy])


def shown_key(key: str) -> str:
    """A key in a message: it may be as long as the file."""
    return key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}…"
