"""Options for the data of a processing job: what they change in its document."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from smlocal.base.regex import regex
from smlocal.errors import ChannelUnknownError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import SetData
from smlocal.sagemaker.processing.facts import PROCESSING
from smlocal.terms.validation.violation import Path

_INPUT: Final = regex(r"(?P<path>.+?)(?::(?P<folder>/(?!/)[^:]*))?", re.DOTALL)
_OUTPUT: Final = regex(r"(?P<folder>/[^:]*):(?P<path>.+)", re.DOTALL)
_Absolute = Callable[[str], str]


def _change_input(document: Document, name: str, path: str, absolute: _Absolute) -> None:
    """Give an input that the file has other data."""
    known = _names(document, ("ProcessingInputs",), "InputName")
    if name not in known:
        if not isinstance(document.data.get("ProcessingInputs") or [], list):
            return  # the request is refused for it
        raise ChannelUnknownError(
            f"{document.name} has no input {name!r}",
            details=[f"Its inputs: {', '.join(map(str, known)) or 'none'}"],
            remedy=[f"For a new one, name its folder: --input {name}=PATH:{PROCESSING}/{name}"],
        )
    document.set(("ProcessingInputs", known.index(name), "S3Input", "S3Uri"), absolute(path))


def _set_input(document: Document, name: str, text: str, absolute: _Absolute) -> None:
    """Add an input, or change one."""
    known = _names(document, ("ProcessingInputs",), "InputName")
    parts = _INPUT.fullmatch(text)
    if parts is None:
        raise _unclear("--input", name, text, f"PATH or PATH:{PROCESSING}/FOLDER")
    at: Path = ("ProcessingInputs", known.index(name) if name in known else len(known))
    if name not in known:
        _make_list(document, ("ProcessingInputs",))
        document.set((*at, "InputName"), name)
    document.set((*at, "S3Input", "S3Uri"), absolute(parts["path"]))
    if parts["folder"] or name not in known:
        document.set((*at, "S3Input", "LocalPath"), parts["folder"] or f"{PROCESSING}/{name}")


def _set_output(document: Document, name: str, text: str, absolute: _Absolute) -> None:
    """Add an output, or change one."""
    place: Path = ("ProcessingOutputConfig", "Outputs")
    known = _names(document, place, "OutputName")
    parts = _OUTPUT.fullmatch(text)
    if parts is None:
        raise _unclear("--processing-output", name, text, f"{PROCESSING}/FOLDER:DIR")
    at: Path = (*place, known.index(name) if name in known else len(known))
    if name not in known:
        _make_list(document, place)
        document.set((*at, "OutputName"), name)
    document.set((*at, "S3Output", "S3Uri"), absolute(parts["path"]))
    document.set((*at, "S3Output", "LocalPath"), parts["folder"])


def _make_list(document: Document, place: Path) -> None:
    if not document.has(place):
        document.set(place, [])


def _names(document: Document, place: Path, member: str) -> list[Any]:
    found: Any = document.data
    for step in place:
        found = found.get(step) if isinstance(found, dict) else None
    elements = found if isinstance(found, list) else ()
    return [each.get(member) if isinstance(each, dict) else None for each in elements]


def _unclear(flag: str, name: str, text: str, form: str) -> UsageRefusedError:
    return UsageRefusedError(
        f"{flag} {name}={text}: not a folder below /opt/ml/processing", remedy=[f"Write {name}={form}"]
    )


DATA_OPTIONS: Final[Mapping[str, SetData]] = {
    "channels": _change_input,
    "inputs": _set_input,
    "processing_outputs": _set_output,
}
"""By the keyword of the option."""
