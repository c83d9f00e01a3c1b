"""`Local.Steps`: what runs here in place of steps that only the service can run. Read only; others run it."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.regex import regex
from smlocal.errors import JobFileMissingError, RequestInvalidError
from smlocal.jobfile.local_block import mistake_lines
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.pipelines.definition import StandIn, Step
from smlocal.sagemaker.pipelines.parameters import typed
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.terms.validation.violation import Path, Violation, closest, kind_of

_PLACE: Final = "Steps"
_LARGEST: Final = 1 << 20
"""Characters of a file."""
_KINDS: Final = ("Command", "Python", "Outputs", "Skip")
_HANDLER: Final = regex(r"(?P<file>[^:\0]+\.py):(?P<handler>[A-Za-z_][A-Za-z0-9_.]*)")


def read_stand_ins(local: Any) -> tuple[dict[str, StandIn], list[Violation]]:
    """Those in the block `Local`, by the names of steps, and the mistakes in them."""
    given = local.get(_PLACE) if isinstance(local, dict) else None
    if given is None:
        return {}, []
    path: Path = (LOCAL, _PLACE)
    if not isinstance(given, dict):
        return {}, [says(path, f"is {kind_of(given)}, and must be a map of names of steps")]
    return _read(given, path)


def _read(given: Mapping[str, Any], path: Path) -> tuple[dict[str, StandIn], list[Violation]]:
    stand_ins: dict[str, StandIn] = {}
    found: list[Violation] = []
    for name, each in given.items():
        wrong = list(_violations(each, (*path, name)))
        found += wrong
        stand_ins[name] = StandIn() if wrong else _made(each)
    return stand_ins, found


def read_stand_in_file(path: str) -> dict[str, Any]:
    """The stand-ins in a file, by the names of steps, as `Local.Steps` has them; one error lists all mistakes.

    Files that it names are relative to its folder.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise JobFileMissingError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    document = load_document(text, name=os.path.basename(path), directory=os.path.dirname(os.path.abspath(path)))
    _, found = _read(document.data, ())
    if found:
        raise RequestInvalidError(
            f"{len(found):,} problem{'s' * (len(found) > 1)} in {document.name}", details=mistake_lines(document, found)
        )
    return document.data


def _violations(given: Any, path: Path) -> Iterator[Violation]:
    if not isinstance(given, dict):
        yield says(path, f"is {kind_of(given)}, and must be a map with one of {', '.join(_KINDS)}")
        return
    for name in given:
        if name not in _KINDS:
            meant = closest(name, _KINDS)
            yield says((*path, name), f"did you mean {meant}?" if meant else f"known: {', '.join(_KINDS)}")
    if len(given) != 1:
        yield says(path, f"must have exactly one of {', '.join(_KINDS)}")
    command, python = given.get("Command"), given.get("Python")
    words = isinstance(command, list) and command and all(isinstance(each, str) and each for each in command)
    if "Command" in given and not words:
        yield says((*path, "Command"), "must be a list of words, such as [python3, step.py]")
    if "Python" in given and not (isinstance(python, str) and _HANDLER.fullmatch(python)):
        yield says((*path, "Python"), "must be a file and a function in it, such as step.py:handler")
    if "Outputs" in given and not isinstance(given["Outputs"], dict):
        yield says((*path, "Outputs"), "must be a map of names and values")
    if "Skip" in given and given["Skip"] is not True:
        yield says((*path, "Skip"), "must be true")


def _made(given: Mapping[str, Any]) -> StandIn:
    found = _HANDLER.fullmatch(given["Python"]) if "Python" in given else None
    return StandIn(
        command=tuple(given.get("Command", ())),
        file=found["file"] if found else "",
        handler=found["handler"] if found else "",
        outputs=given.get("Outputs"),
        skip=given.get("Skip") is True,
    )


def misfits(stand_ins: Mapping[str, StandIn], steps: Mapping[str, Step]) -> Iterator[Violation]:
    """Names that no step has, and outputs that are not those of the step."""
    for name, stand_in in stand_ins.items():
        path: Path = (LOCAL, _PLACE, name)
        if name not in steps:
            meant = closest(name, steps)
            yield says(path, f"the pipeline has no step of this name{f'; did you mean {meant}?' if meant else ''}")
        elif stand_in.outputs is not None:
            yield from _wrong_outputs(stand_in.outputs, steps[name], (*path, "Outputs"))


def _wrong_outputs(given: Mapping[str, Any], step: Step, path: Path) -> Iterator[Violation]:
    if "OutputParameters" not in step.type.own:
        return  # whatever other steps refer to
    kinds = {output.name: output.kind for output in step.outputs}
    for name, value in given.items():
        if name not in kinds:
            known = f"; it has {', '.join(kinds)}" if kinds else ""
            yield says((*path, name), f"the step has no such output{known}")
        elif typed(kinds[name], value) is None:
            yield says((*path, name), f"the output is of type {kinds[name]}, and this is {kind_of(value)}")
    for name in kinds:
        if name in given:
            continue
        yield says(path, f"the output '{name}' is missing")
