"""Reads a job file, which is JSON or YAML, into a document."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from smlocal.errors import JobFileSyntaxError
from smlocal.jobfile.document import (
    ALIAS,
    MOST_LEVELS,
    MOST_TEXT,
    NO_JOB,
    Document,
    TextPlaces,
    shown_key,
    too_large_for_a_request,
)
from smlocal.terms.json_size import MOST_PARTS, too_large
from smlocal.terms.masking import masked_text
from smlocal.terms.validation.violation import Path, dotted, kind_of

_WRITE: Final = "Write the request of a job in YAML or JSON."
_KEY = '"'
_TOKENS = re.compile(r'\n|"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def load_document(
    text: str, *, name: str, directory: str, most_parts: int = MOST_PARTS, most_levels: int = MOST_LEVELS
) -> Document:
    """Read YAML or JSON; `JobFileSyntaxError` with the line if the text is not a valid request document."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise JobFileSyntaxError(f"{name} is empty", remedy=[_WRITE])
    data, places = _parse(text, name, most_parts, most_levels)
    if data is None:
        raise JobFileSyntaxError(f"{name} contains only comments, no request", remedy=[_WRITE])
    if not isinstance(data, dict):
        raise JobFileSyntaxError(
            f"{name} contains {kind_of(data)} instead of a request",
            remedy=["Its top level must be a map of members and their values."],
        )
    plain = _Plain(data, name, places, aliases="*" in text, most_parts=most_parts, most_levels=most_levels)
    return Document(plain.map(data, ()), name=name, directory=directory, places=places)


def _parse(text: str, name: str, most_parts: int, most_levels: int) -> tuple[Any, TextPlaces]:
    if text.lstrip()[:1] == "{":
        try:
            return _parse_json(text, name, most_parts, most_levels)
        except _NotJsonError as error:
            if name.endswith(".json"):
                raise error.refusal() from None
    from smlocal.jobfile import yaml_text  # takes 15 ms, so not for JSON

    return yaml_text.parse(text, name, levels=most_levels)


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

    def __init__(
        self, root: Any, name: str, places: TextPlaces, *, aliases: bool, most_parts: int, most_levels: int
    ) -> None:
        self.root = root
        self.most_parts = most_parts
        self.most_levels = most_levels
        self.name = name
        self.places = places
        self.parts = 0
        self.text = 0
        self.aliases = aliases
        """False if no text can be there more often than it is written."""

    def value(self, value: Any, path: Path) -> Any:
        self.parts += 1
        # Aliases can make a small file arbitrarily large, or endless.
        if len(path) > self.most_levels or self.parts > self.most_parts:
            raise too_large_for_a_request(
                self.name,
                deep=len(path) > self.most_levels,
                details=[f"{self._place(path)}   at {_shown(path)}…"],
                remedy=ALIAS if _shares(self.root) else NO_JOB,
                parts=self.most_parts,
                levels=self.most_levels,
            )
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


class _NotJsonError(Exception):
    """The text is not JSON; it may still be YAML."""

    def __init__(self, name: str, line: int, column: int, problem: str, shown: str) -> None:
        """`problem` is at this line and column; `shown` is the line's text."""
        super().__init__(problem)
        self.where = f"{name}:{line}:{column}"
        self.name = name
        self.shown = shown

    def refusal(self) -> JobFileSyntaxError:
        """The error for a file that should be JSON."""
        return JobFileSyntaxError(
            f"{self.name} is not JSON", details=[f"{self.where}   {self}", f"  {masked_text(self.shown)}"]
        )


class _RepeatedError(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedError(key)
            seen.add(key)
    return data


class _HalfError(Exception):
    pass


def _refuse_halves(data: Any) -> None:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _HalfError from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _parse_json(text: str, name: str, most_parts: int, most_levels: int) -> tuple[Any, TextPlaces]:
    """The data, and its lines; `_NotJsonError` if the text is not JSON."""
    # Twice as many, because an empty map or list may have two marks. Documents that this lets through are counted
    # later.
    beyond = too_large(text, parts=2 * most_parts, levels=2 * most_levels)
    if beyond is not None:
        line = text.count("\n", 0, beyond.at) + 1
        details = [f"{name}:{line}   here"]
        raise too_large_for_a_request(name, deep=beyond.deep, details=details, parts=most_parts, levels=most_levels)
    places = _JsonPlaces(text)
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if "\\ud" in text.casefold():
            _refuse_halves(data)
    except _RepeatedError as error:
        first, second = places.repeated(error.key)
        key = shown_key(error.key)
        raise JobFileSyntaxError(
            f"{name} has the key {key} twice in one object",
            details=[f"{name}:{second}   {key}", f"{name}:{first}   first here"],
        ) from None
    except json.JSONDecodeError as error:
        begin = text.rfind("\n", 0, error.pos) + 1
        shown = text[begin : begin + 200].partition("\n")[0]
        raise _NotJsonError(name, error.lineno, error.colno, error.msg, shown) from error
    except RecursionError as error:  # how deep that is depends on Python, and on the stack that is left
        details = [f"{name}:1   here"]
        raise too_large_for_a_request(name, deep=True, details=details, levels=most_levels) from error
    except ValueError as error:
        raise _NotJsonError(name, 1, 1, str(error), "") from error
    except _HalfError:
        raise JobFileSyntaxError(f"{name} contains an unpaired surrogate, which is not a valid character") from None
    return data, places


class _JsonPlaces:
    """Finds lines by reading the tokens of a valid JSON text again."""

    def __init__(self, text: str) -> None:
        """The text is only read if there is a mistake."""
        self._text = text

    def _tokens(self) -> Iterator[tuple[str, int]]:
        line = 1
        for match in _TOKENS.finditer(self._text):
            if match.group() == "\n":
                line += 1
            else:
                yield match.group(), line

    def _parts(self) -> Iterator[tuple[Path, int, str]]:
        """Each key and value with its line and text, in the order of the file, also repeated keys."""
        path: list[str | int] = []
        awaits_key = False
        for word, line in self._tokens():
            in_list = bool(path) and isinstance(path[-1], int)
            if word in "}]":
                path.pop()
                awaits_key = False
            elif word == ",":
                awaits_key = not in_list
                if in_list:
                    path[-1] = int(path[-1]) + 1
            elif word == ":":
                awaits_key = False
            elif awaits_key:
                path[-1] = json.loads(word)
                yield tuple(path), line, _KEY
            else:
                yield tuple(path), line, word
                if word in "{[":
                    awaits_key = word == "{"
                    path.append("" if awaits_key else 0)

    def lines(self) -> dict[Path, int]:
        """Path to line."""
        found: dict[Path, int] = {}
        for path, line, _ in self._parts():
            found.setdefault(path, line)  # a value may be on a later line than its key
        return found

    def texts(self) -> dict[Path, str]:
        """Path to the text of a number or another plain value."""
        return {path: word for path, _, word in self._parts() if word[:1] not in '{["'}

    def repeated(self, key: str) -> tuple[int, int]:
        """The lines of a key that is twice in one object."""
        seen: dict[Path, int] = {}
        for path, line, word in self._parts():
            if word is not _KEY:
                continue
            if path in seen and path[-1:] == (key,):
                return seen[path], line
            seen[path] = line
        return 1, 1
