"""Commands of CI services in the lines of a log: intended annotations and groups, and text of others made harmless.

GitHub strips a line and runs one that begins with `::`. It runs `##[` anywhere, as Azure does `##vso[`.
A carriage return ends a line for them. Some compare text in a way that ignores characters without a width.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass


class CiService(StrEnum):
    """Those whose logs understand commands; `plain` is every other."""

    GITHUB = "github"
    GITLAB = "gitlab"
    AZURE = "azure"
    PLAIN = "plain"


class Level(StrEnum):
    """How much an annotation matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """Something about a file of the repository."""

    level: Level
    title: str
    message: str
    file: str = ""
    """Relative to the root of the repository."""
    line: int = 0
    """From 1; 0 where it is not known."""


_VARIABLES = {"GITHUB_ACTIONS": CiService.GITHUB, "GITLAB_CI": CiService.GITLAB, "TF_BUILD": CiService.AZURE}
_NOT_IN_SECTIONS = r"[^A-Za-z0-9_.-]+"


def found_service(environment: Mapping[str, str]) -> CiService:
    """The service that this process runs on, by the variables that each of them sets to `true`."""
    names = (service for name, service in _VARIABLES.items() if environment.get(name, "").lower() == "true")
    return next(names, CiService.PLAIN)


def annotation_lines(service: CiService, annotations: Iterable[Annotation]) -> Iterator[str]:
    """A line for each, where the service has such lines."""
    if service is CiService.GITHUB:
        yield from map(_github, annotations)
    elif service is CiService.AZURE:
        yield from map(_azure, annotations)


def group_begin(service: CiService, title: str, at: float) -> str:
    """The line that begins a part of the log which can be folded; empty where there is none."""
    title = harmless(" ".join(title.split()))
    match service:
        case CiService.GITHUB:
            return f"::group::{_data(title)}"
        case CiService.AZURE:
            return f"##[group]{title}"
        case CiService.GITLAB:
            return f"\x1b[0Ksection_start:{at:.0f}:{_section(title)}\r\x1b[0K{title}"
        case CiService.PLAIN:
            return ""


def group_end(service: CiService, title: str, at: float) -> str:
    """The line that ends it."""
    match service:
        case CiService.GITHUB:
            return "::endgroup::"
        case CiService.AZURE:
            return "##[endgroup]"
        case CiService.GITLAB:
            return f"\x1b[0Ksection_end:{at:.0f}:{_section(title)}\r\x1b[0K"
        case CiService.PLAIN:
            return ""


def _github(annotation: Annotation) -> str:
    properties = {
        "file": annotation.file,
        "line": str(annotation.line or 1) if annotation.file else "",
        "title": annotation.title,
    }
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{annotation.level} {named}::{_data(annotation.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _azure(annotation: Annotation) -> str:
    if annotation.level is Level.NOTICE:  # Azure has errors and warnings only
        return harmless(" ".join(f"{annotation.title}: {annotation.message}".split()))
    properties = {
        "type": str(annotation.level),
        "sourcepath": annotation.file,
        "linenumber": str(annotation.line or 1) if annotation.file else "",
        "code": annotation.title,
    }
    named = "".join(f"{name}={_azure_property(value)};" for name, value in properties.items() if value)
    return f"##vso[task.logissue {named}]{_azure_data(annotation.message)}"


def _azure_data(text: str) -> str:
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _azure_property(text: str) -> str:
    return _azure_data(text).replace("]", "%5D").replace(";", "%3B")


def _section(title: str) -> str:
    return re.sub(_NOT_IN_SECTIONS, "_", title).strip("_").lower() or "smlocal"


_WITHOUT_WIDTH = "\x00\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_SKIPPED = f"[{_WITHOUT_WIDTH}]*"
_COMMAND = rf"#(?={_SKIPPED}#[\w{_WITHOUT_WIDTH}]*\[)|(?:(?<=[\r\n])|\A)([\s{_WITHOUT_WIDTH}]*):(?={_SKIPPED}:)"
"""Compiled when it is needed, which is rare, and takes longer than everything else here."""
_TAIL = 64
"""Characters of an unfinished line in which a command may have begun."""


def harmless(text: str) -> str:
    """Text of others without what a service would take for a command of ours."""
    return re.sub(_COMMAND, lambda found: "# " if found[1] is None else f"{found[1]}: ", text)


def harmless_json(text: str) -> str:
    """The same JSON document, in which no string has what a service would take for a command."""
    if "#" not in text:
        return text
    return re.sub(_COMMAND, lambda found: r"\u0023" if found[1] is None else found[0], text)


class CommandGuard:
    """Makes output harmless that comes in pieces, for example that of a container. Nothing is held back."""

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._line = ""
        """The end of the unfinished line."""

    def feed(self, piece: bytes) -> bytes:
        """Return what to print for the next bytes."""
        if not self._line and b"::" not in piece and b"#" not in piece and piece.endswith(b"\n") and piece.isascii():
            return piece
        text = piece.decode("utf-8", "surrogateescape")
        whole = harmless(self._line + text)
        # A space in the middle of a command that began in an earlier piece makes it harmless, too.
        result = whole[len(self._line) :] if whole.startswith(self._line) else f" {harmless(text)}"
        line = self._line + result
        self._line = line[max(line.rfind("\n"), line.rfind("\r")) + 1 :][-_TAIL:]
        return result.encode("utf-8", "surrogateescape")
