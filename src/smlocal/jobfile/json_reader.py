"""Job files in JSON."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smlocal.contract.json_size import MOST_PARTS, too_large
from smlocal.errors import JobFileSyntaxError
from smlocal.jobfile.sizes import MOST_LEVELS, shown_key, too_large_for_a_request

if TYPE_CHECKING:
    from smlocal.contract.validation.member_path import Path

_KEY = '"'
_TOKENS = re.compile(r'\n|"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class NotJsonError(Exception):
    """The text is not JSON; it may still be YAML."""

    def __init__(self, name: str, line: int, column: int, problem: str, shown: str) -> None:
        """`problem` is at this line and column; `shown` is the line's text."""
        super().__init__(problem)
        self.where = f"{name}:{line}:{column}"
        self.name = name
        self.shown = shown

    def refusal(self) -> JobFileSyntaxError:
        """The error for a file that should be JSON."""
        from smlocal.contract.secrets.masking import masked_text  # only after a mistake

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


def parse(text: str, name: str) -> tuple[Any, "JsonPlaces"]:
    """The data, and its lines; `NotJsonError` if the text is not JSON."""
    # Twice as many, because an empty map or list may have two marks. What this lets through is counted later.
    beyond = too_large(text, parts=2 * MOST_PARTS, levels=2 * MOST_LEVELS)
    if beyond is not None:
        line = text.count("\n", 0, beyond.at) + 1
        raise too_large_for_a_request(name, deep=beyond.deep, details=[f"{name}:{line}   here"])
    places = JsonPlaces(text)
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
        raise NotJsonError(name, error.lineno, error.colno, error.msg, shown) from error
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise NotJsonError(name, 1, 1, problem, "") from error
    except _HalfError:
        raise JobFileSyntaxError(f"{name} contains an unpaired surrogate, which is not a valid character") from None
    return data, places


class JsonPlaces:
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

    def _parts(self) -> Iterator[tuple["Path", int, str]]:
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

    def lines(self) -> dict["Path", int]:
        """Path to line."""
        found: dict[Path, int] = {}
        for path, line, _ in self._parts():
            found.setdefault(path, line)  # a value may be on a later line than its key
        return found

    def texts(self) -> dict["Path", str]:
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
