"""Which CI service runs this, and how its log takes annotations and groups."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from smlocal.ci.log_commands import harmless
from smlocal.quick_dataclass import dataclass


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
_SECTION = re.compile(r"[^A-Za-z0-9_.-]+")


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
    return _SECTION.sub("_", title).strip("_").lower() or "smlocal"
