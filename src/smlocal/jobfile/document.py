"""The data of a job file, and the line of each part."""

from typing import TYPE_CHECKING, Any

from smlocal.contract.json_size import MOST_PARTS
from smlocal.contract.validation.member_path import Path, dotted, kind_of
from smlocal.errors import JobFileSyntaxError, RequestInvalidError
from smlocal.jobfile.places import Places
from smlocal.jobfile.sizes import ALIAS, MOST_LEVELS, MOST_TEXT, NO_JOB, shown_key, too_large_for_a_request
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ELSEWHERE = "Elsewhere"
_WRITE = "Write the request of a job in YAML or JSON."


@dataclass(frozen=True, kw_only=True, slots=True)
class RanBefore:
    """The earlier job whose request this is."""

    job: str
    image: str
    image_id: str
    """Of the image that it ran."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """The document is a saved description of a job, and no job file: it may name no path of this machine."""

    own_job: str = ""
    """The job of this machine that it describes, if there is one."""
    allowed: "frozenset[tuple[Path, str]]" = frozenset()
    """Local paths that it may name all the same, each with its member."""
    checked: bool = False
    """A recorded request: its local paths are those that the user gave when the job was made."""


class Document:
    """The data of a job file, with overrides from flags or keywords."""

    def __init__(self, data: dict[str, Any], *, name: str, directory: str, places: Places | None = None) -> None:
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

    def blamed(self, paths: "Iterable[Path]") -> str:
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

    def is_overridden(self, path: Path) -> bool:
        """True if this part is not from the document itself."""
        return self._origin(path) is not None

    def record(self) -> dict[str, Any]:
        """What to store of it, for `recorded_document`."""
        elsewhere = {} if self.elsewhere is None else {_ELSEWHERE: True}
        return {"Data": self.data, "File": self.name, "Directory": self.directory, **elsewhere}

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
        """What this part was laid over the file by; None for what the file says."""
        return next((by for given, by in reversed(self._overridden) if path[: len(given)] == given), None)


def recorded_document(recorded: "Mapping[str, Any]", *, name: str | None = None) -> Document:
    """The document that was stored with a job, under its own name or another."""
    document = Document(dict(recorded["Data"]), name=name or recorded["File"], directory=recorded["Directory"])
    document.elsewhere = Elsewhere(checked=True) if recorded.get(_ELSEWHERE) else None
    return document


def load_document(text: str, *, name: str, directory: str) -> Document:
    """Read YAML or JSON; `JobFileSyntaxError` with the line if the text is not a valid request document."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise JobFileSyntaxError(f"{name} is empty", remedy=[_WRITE])
    data, places = _parse(text, name)
    if data is None:
        raise JobFileSyntaxError(f"{name} contains only comments, no request", remedy=[_WRITE])
    if not isinstance(data, dict):
        raise JobFileSyntaxError(
            f"{name} contains {kind_of(data)} instead of a request",
            remedy=["Its top level must be a map of members and their values."],
        )
    plain = _Plain(data, name, places, aliases="*" in text)
    return Document(plain.map(data, ()), name=name, directory=directory, places=places)


def _parse(text: str, name: str) -> tuple[Any, Places]:
    if text.lstrip()[:1] == "{":
        from smlocal.jobfile import json_reader

        try:
            return json_reader.parse(text, name)
        except json_reader.NotJsonError as error:
            if name.endswith(".json"):
                raise error.refusal() from None
    from smlocal.jobfile import yaml_reader  # takes 15 ms, so not for JSON

    return yaml_reader.parse(text, name)


def _shares(root: Any) -> bool:
    """True if a map or list is used in several places, which only an alias can do."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, dict | list):
            continue
        if id(value) in seen:
            return True
        seen.add(id(value))
        waiting += value.values() if isinstance(value, dict) else value
    return False


class _Plain:
    """Makes a copy without shared or endless parts, in which every key is a string."""

    def __init__(self, root: Any, name: str, places: Places, *, aliases: bool) -> None:
        self.root = root
        self.name = name
        self.places = places
        self.parts = 0
        self.text = 0
        self.aliases = aliases
        """False if no text can be there more often than it is written."""

    def value(self, value: Any, path: Path) -> Any:
        self.parts += 1
        # Aliases can make a small file arbitrarily large, or endless.
        if len(path) > MOST_LEVELS or self.parts > MOST_PARTS:
            remedy = ALIAS if _shares(self.root) else NO_JOB
            where = [f"{self._place(path)}   at {_shown(path)}…"]
            raise too_large_for_a_request(self.name, deep=len(path) > MOST_LEVELS, details=where, remedy=remedy)
        if isinstance(value, dict):
            return self.map(value, path)
        if isinstance(value, list):
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        if self.aliases and isinstance(value, str):
            self._count(value, path)
        return value

    def map(self, value: dict[Any, Any], path: Path) -> dict[str, Any]:
        copy = {}
        for key, item in value.items():
            if not isinstance(key, str):
                self._refuse_key(key, path)
            if self.aliases:
                self._count(key, path)
            copy[key] = self.value(item, (*path, key))
        return copy

    def _count(self, text: str, path: Path) -> None:
        self.text += len(text)
        if self.text > MOST_TEXT:
            raise JobFileSyntaxError(
                f"{self.name} is too large for a request: more than {MOST_TEXT >> 20} MiB of text",
                details=[f"{self._place(path)}   at {_shown(path)}…"],
                remedy=[ALIAS],
            )

    def _place(self, path: Path) -> str:
        """The line of a part, or of what it is in."""
        lines = self.places.lines()
        line = next((lines[path[:length]] for length in range(len(path), -1, -1) if path[:length] in lines), 1)
        return f"{self.name}:{line}"

    def _refuse_key(self, key: Any, path: Path) -> None:
        lines = self.places.lines()
        line = lines.get((*path, str(key)), lines.get(path, 1))
        shown = shown_key(str(key))
        raise JobFileSyntaxError(
            f"{self.name} has a key that is not a string",
            details=[f"{self.name}:{line}   {dotted((*path, shown))} is {kind_of(key)}"],
            remedy=[f'Quote it: "{shown}"'],
        )


def _shown(path: Path) -> str:
    return dotted(tuple(shown_key(step) if isinstance(step, str) else step for step in path[:3]))
