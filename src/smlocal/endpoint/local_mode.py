"""Lines of a program that ask the SageMaker SDK for its local mode, in which no call reaches the endpoint.

The SDK then starts containers itself, with docker compose. Nothing that `smlocal exec` hands over could change that
without changing the SDK, and the calls of the program say little: version 3 makes none at all, and the message about
its use that version 2 sends can be turned off. So the text is read, when the program has ended and no job has come from
it: only the text has the line to change. No program is kept from running for what its text says.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from smlocal.base.quick_dataclass import dataclass

_INSTANCE, _GPU_INSTANCE = "ml.m5.large", "ml.g5.xlarge"
_MOST_FILES = 200
_LARGEST = 1 << 20
"""Bytes of a file."""
_LONGEST = 1000
"""Characters of a line that somebody wrote."""
_LOCAL_TYPE = "(?P<type>local|local_cpu|local_gpu)"
_IMPORT = re.compile(r"^[ \t]*(?:from +(\.*)([\w.]*) +)?import +\(?([\w., ]*)", re.MULTILINE)
_OF_THE_SDK = re.compile(r"\bsagemaker\b")
_ANY_SESSION = "<session>"
_A_SESSION = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(?:[\w.]+\.)?(?:Local)?Session\(", re.MULTILINE)
_MODULE = re.compile(
    r"^[ \t]*import[ \t]+(?:[\w., \t]+,[ \t]*)?sagemaker(?P<below>\.[\w.]+)?\b(?:[ \t]+as[ \t]+(?P<name>\w+))?",
    re.MULTILINE,
)
_IMPORTED = re.compile(r"^[ \t]*from[ \t]+sagemaker[\w.]*[ \t]+import\b.*\b(?:Local)?Session\b", re.MULTILINE)
_VERSION_3 = re.compile(r"\bsagemaker\.(?:core|train|serve)\b")
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalModeLine:
    """A line to change."""

    place: str
    """`train.py:14`, or `the command`."""
    line: str
    instead: str
    """Empty if it is to be left out."""
    asks: bool
    """False for options that are only possible in local mode, but do not ask for it."""


def local_mode_lines(command: Sequence[str], folder: str) -> list[LocalModeLine]:
    """Lines of a program started in this folder: of its command, its script, and the modules that it imports there."""
    found = [*_of_command(command)]
    texts = dict(_sources(command, folder))
    if any(_OF_THE_SDK.search(text) for text in texts.values()):
        found += (line for path, text in texts.items() for line in _of_text(os.path.relpath(path, folder), text))
    return found if any(each.asks for each in found) else []


def _of_command(command: Sequence[str]) -> Iterator[LocalModeLine]:
    """`--instance-type local`, and the same with `=`."""
    for before, word in pairwise(command):
        text = word if "=" in word else f"{before} {word}"
        if match := re.fullmatch(rf"(?P<option>-\S*instance\S*[= ]){_LOCAL_TYPE}", text):
            instead = match["option"] + _instance(match["type"])
            yield LocalModeLine(place="the command", line=text, instead=instead, asks=True)


def _of_text(name: str, text: str) -> Iterator[LocalModeLine]:
    session, needs = _session_in(text)
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or "==" in line or "!=" in line or len(line) > _LONGEST:
            continue
        asking = line
        for pattern, change in _ASKING:
            asking = pattern.sub(change, asking)
        instead = asking
        for pattern, change in _ONLY_IN_LOCAL_MODE:
            instead = pattern.sub(change, instead)
        if instead != line:
            shown = instead.strip().replace(_ANY_SESSION, session) + (needs if _ANY_SESSION in instead else "")
            yield LocalModeLine(place=f"{name}:{number}", line=line.strip(), instead=shown, asks=asking != line)


def _instance(kind: str) -> str:
    return _GPU_INSTANCE if kind == "local_gpu" else _INSTANCE


def _session_in(text: str) -> tuple[str, str]:
    """The expression for a session in a program, and a comment with the missing import, if any."""
    if made := _A_SESSION.search(text):
        return made[1], ""
    for module in _MODULE.finditer(text):
        if module["below"] is None or module["name"] is None:  # `import sagemaker.local as local` binds something else
            return f"{module['name'] or 'sagemaker'}.Session()", ""
    if _IMPORTED.search(text):
        return "Session()", ""
    where = "sagemaker.core.helper.session_helper" if _VERSION_3.search(text) else "sagemaker"
    return "Session()", f"  # with: from {where} import Session"


def _upload(found: "re.Match[str]") -> str:
    path = found["path"]
    return f'{_ANY_SESSION}.upload_data("{path}", key_prefix="{os.path.basename(path.rstrip("/")) or "data"}")'


_Change = tuple["re.Pattern[str]", Callable[["re.Match[str]"], str] | str]
_ASKING: tuple[_Change, ...] = (
    (
        re.compile(rf"(?i)(?P<before>instance.*)(?P<quote>[\"']){_LOCAL_TYPE}(?P=quote)"),
        lambda found: f"{found['before']}{found['quote']}{_instance(found['type'])}{found['quote']}",
    ),
    (re.compile(r"\bMode\.LOCAL_CONTAINER\b"), "Mode.SAGEMAKER_TRAINING_JOB"),
    (
        re.compile(r"\bfrom sagemaker\.core\.local(\.local_session)? import LocalSession\b"),
        "from sagemaker.core.helper.session_helper import Session",
    ),
    (re.compile(r"\bfrom sagemaker\.local(\.local_session)? import LocalSession\b"), "from sagemaker import Session"),
    (re.compile(r"\bsagemaker\.local\.(local_session\.)?LocalSession\("), "sagemaker.Session("),
    (re.compile(r"\bLocalSession\("), "Session("),
)
_ONLY_IN_LOCAL_MODE: tuple[_Change, ...] = (
    (re.compile(r"\boutput_path\s*=\s*f?([\"'])file://[^\"']*\1\s*,?"), ""),
    (re.compile(r"(?<!\w)([\"'])file://(?P<path>[^\"'{}]+)\1"), _upload),
)


def _sources(command: Sequence[str], folder: str) -> Iterator[tuple[str, str]]:
    """Text files that the command names, and modules that they import from where Python looks first."""
    waiting = [os.path.join(folder, word) for word in command]
    roots = {folder, *(os.path.dirname(path) for path in waiting if os.path.isfile(path))}
    for option, word in pairwise(command):
        if option == "-m":
            waiting += _module_files(folder, word)
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FILES:
        path = os.path.normpath(waiting.pop(0))
        if path in seen or (text := _text_of(path)) is None:
            continue
        seen.add(path)
        yield path, text
        for dots, module, names in _IMPORT.findall(text):
            above = os.path.join(os.path.dirname(path), *[os.pardir] * (len(dots) - 1))
            named = [f"{module}.{each.split()[0]}".strip(".") for each in names.split(",") if each.split()]
            for root in [above] if dots else sorted(roots):
                waiting += (file for each in (module, *named) if each for file in _module_files(root, each))


def _module_files(folder: str, module: str) -> tuple[str, ...]:
    path = os.path.join(folder, *module.split("."))
    return f"{path}.py", os.path.join(path, "__init__.py"), os.path.join(path, "__main__.py")


def _text_of(path: str) -> str | None:
    """None if it is not text, or belongs to an installed package."""
    if any(f"{os.sep}{name}{os.sep}" in path for name in _INSTALLED):
        return None
    with suppress(OSError, UnicodeDecodeError):
        if os.path.isfile(path) and os.path.getsize(path) <= _LARGEST:
            with open(path, encoding="utf-8") as file:
                return file.read()
    return None
