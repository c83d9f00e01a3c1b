"""Reads a definition, or a CreatePipeline request with one: valid, or one error with all mistakes."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import mistake_lines
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.pipelines.arguments import argument_violations
from smlocal.sagemaker.pipelines.definition import Definition, Step
from smlocal.sagemaker.pipelines.graph import graph_violations, with_references
from smlocal.sagemaker.pipelines.parameters import read_parameters, values_of
from smlocal.sagemaker.pipelines.references import property_file_violations, reference_violations
from smlocal.sagemaker.pipelines.stand_ins import misfits, read_stand_ins
from smlocal.sagemaker.pipelines.step_reading import UNPARSED, read_step, says
from smlocal.sagemaker.pipelines.step_types import MOST_BYTES, MOST_LEVELS, MOST_NESTED, MOST_STEPS
from smlocal.terms.validation.violation import Path, Violation, kind_of
from smlocal.terms.validation.walk import MOST_VIOLATIONS, missing
from smlocal.terms.validation.wording import sentence

DEFINITION: Final = "PipelineDefinition"
_LOCATION: Final = "PipelineDefinitionS3Location"
VERSION: Final = "2020-12-01"
_MEMBERS: Final = (*("Version", "Metadata", "Parameters", "PipelineExperimentConfig", "MlflowConfig", "Steps", LOCAL),)
_MOST_PARTS: Final = 400_000
"""Values of a document: as many as a definition of 1 MiB can sensibly have."""
_REQUEST: Final = (
    *("PipelineName", "PipelineDisplayName", DEFINITION, _LOCATION, "PipelineDescription", "ClientRequestToken"),
    *("RoleArn", "Tags", "ParallelismConfiguration", "PipelineVersionAliases", LOCAL),
)
_NAME: Final = regex(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,255}")
_Waiting = tuple[Any, Path, Step | None, bool | None, int]


def is_request(data: Mapping[str, Any]) -> bool:
    """True for the members of a CreatePipeline request."""
    return "Steps" not in data and (DEFINITION in data or _LOCATION in data or "PipelineName" in data)


def load_definition(text: str, *, name: str, directory: str) -> Document:
    """The document of a definition or a request, which may be larger than those of jobs."""
    if len(text) > MOST_BYTES and len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise RequestInvalidError(f"{name} is larger than {MOST_BYTES >> 20} MiB, which no definition may be")
    return load_document(text, name=name, directory=directory, most_parts=_MOST_PARTS, most_levels=MOST_LEVELS)


def read_definition(
    document: Document,
    *,
    given: Mapping[str, Any] | None = None,
    stand_ins: Collection[str] = (),
    begins: bool = True,
    runs_here: bool = True,
    strict: bool = True,
    in_place: bool = False,
    others: Callable[[Definition], Iterable[Violation]] = lambda _: (),
) -> Definition:
    """The checked definition.

    `given`: values of parameters, if an execution is to begin; if it only may, `begins` is false, and a parameter
    without a value is no mistake. `stand_ins`: names of steps that have one besides those that the document names.
    `runs_here`: what this machine cannot do, or needs a stand-in for, is a mistake. `strict`: what steps make must be
    as the service wants it; else it may have local paths and no role. `in_place`: a request may have the definition as
    a map, which one that runs here may have too. `others` looks for mistakes beside the definition.
    """
    outer, local = document, document.data.get(LOCAL)
    request: dict[str, Any] = {}
    if is_request(document.data):
        request = {name: value for name, value in document.data.items() if name != DEFINITION}
        document = _inner(document, as_text=not (runs_here or in_place))
    asked = _Asked(given=given, begins=begins, stand_ins=stand_ins, runs_here=runs_here, strict=strict)
    definition, found = _checked(document, local, asked)
    found += others(definition)
    if found:
        raise invalid_definition(document, found, outer)
    return replace(definition, request=request)


def _inner(document: Document, *, as_text: bool) -> Document:
    """The definition in a request, as a document of its own."""
    found = [says((name,), "CreatePipeline has no such member", None) for name in document.data if name not in _REQUEST]
    found += [missing((name,)) for name in ("PipelineName",) if document.data.get(name) is None]
    found += name_violations(document.data.get("PipelineName"))
    parallel = document.data.get("ParallelismConfiguration")
    most = parallel.get("MaxParallelExecutionSteps") if isinstance(parallel, dict) else None
    if parallel is not None and (type(most) is not int or most < 1):
        found.append(
            says(("ParallelismConfiguration", "MaxParallelExecutionSteps"), "must be a whole number from 1 on")
        )
    text = document.data.get(DEFINITION)
    if text is None and document.data.get(_LOCATION) is not None:
        found.append(says((_LOCATION,), f"is for clients of smlocal serve; a file has the definition as {DEFINITION}"))
    elif text is None:
        found.append(missing((DEFINITION,)))
    elif not isinstance(text, str if as_text else str | dict):
        found.append(says((DEFINITION,), f"must be JSON text; it is {kind_of(text)}"))
    if found:
        raise invalid_definition(document, found)
    if isinstance(text, dict):  # a person may write it in place
        return Document(text, name=f"{document.name}:{DEFINITION}", directory=document.directory)
    return load_definition(str(text), name=f"{document.name}:{DEFINITION}", directory=document.directory)


def name_violations(name: Any) -> Iterator[Violation]:
    """What is wrong with the name of a pipeline, if there is one."""
    if isinstance(name, str) and not _NAME.fullmatch(name):
        service = sentence(
            name[:300], "pipelineName", f"Member must satisfy regular expression pattern: {_NAME.pattern}"
        )
        yield Violation(path=("PipelineName",), text=service, service=service)
    elif name is not None and not isinstance(name, str):
        yield says(("PipelineName",), f"must be text; it is {kind_of(name)}")


def invalid_definition(
    document: Document, found: list[Violation], outer: Document | None = None
) -> RequestInvalidError:
    """One error for all mistakes, in the order of the file. The service tells the first that it finds.

    `outer`: the document of the request that the definition is in, which has `Local`.
    """
    if outer is None or outer is document:
        parts = [(document, found)]
    else:
        parts = [(outer, [each for each in found if each.path[:1] and each.path[0] in _REQUEST])]
        parts.append((document, [each for each in found if not each.path[:1] or each.path[0] not in _REQUEST]))
    details: list[str] = []
    service = ""
    for where, violations in parts:
        ordered = _by_line(where, violations)
        service = service or next((violation.service for violation in ordered if violation.service), "")
        details += mistake_lines(where, ordered) if ordered else []
    number = len(found)
    least = "at least " if number >= MOST_VIOLATIONS else ""
    return RequestInvalidError(
        f"{least}{number:,} problem{'s' * (number > 1)} in {document.name}", details=details, service_message=service
    )


def _by_line(document: Document, violations: list[Violation]) -> list[Violation]:
    return sorted(violations, key=lambda violation: document.nearest_line(violation.path) or 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """How a definition is to be read."""

    given: Mapping[str, Any] | None
    begins: bool
    stand_ins: Collection[str]
    runs_here: bool
    strict: bool


def _checked(document: Document, local: Any, asked: _Asked) -> tuple[Definition, list[Violation]]:
    data = document.data
    found = list(_top_violations(data))
    parameters, wrong = read_parameters(data.get("Parameters"))
    found += wrong
    steps, wrong = _steps(data.get("Steps"))
    found += wrong
    stand_ins, wrong = read_stand_ins(local)
    found += wrong
    found += misfits(stand_ins, steps)
    taken = {*stand_ins, *asked.stand_ins}
    definition = Definition(parameters=parameters, steps=steps, stand_ins=stand_ins, given=data, document=document)
    for more in (graph_violations(steps), reference_violations(definition), property_file_violations(steps)):
        found += islice(more, MOST_VIOLATIONS)  # each may say what is meant, which takes time
    values = {name: parameter.default for name, parameter in parameters.items() if parameter.default is not None}
    if asked.given is not None:
        values, unfit = values_of(parameters, asked.given)
        unfit = [each for each in unfit if asked.begins or each[0] in asked.given]
        found += [Violation(path=_place_of_value(local, name), text=text) for name, text in unfit]
    sources = local.get("Sources") if isinstance(local, dict) else None
    check = partial(
        argument_violations,
        strict=asked.strict,
        runs_here=asked.runs_here,
        sources=[each for each in sources if isinstance(each, str)] if isinstance(sources, dict) else (),
    )
    for step in steps.values():
        if len(found) > MOST_VIOLATIONS:
            break
        found += check(step, document, values, taken)
        if asked.runs_here:
            found += _stand_in_violations(step, taken)
    return definition, found[:MOST_VIOLATIONS]


def _place_of_value(local: Any, name: str) -> Path:
    """Where the value of a parameter is given: in `Local`, or by a client, which has no line."""
    given = local.get("Parameters") if isinstance(local, dict) else None
    return (LOCAL, "Parameters", name) if isinstance(given, dict) and name in given else ("Parameters",)


def _top_violations(data: Mapping[str, Any]) -> Iterator[Violation]:
    for name in data:
        if name not in _MEMBERS:
            service = f"{UNPARSED} Cannot parse object, unknown property '{name[:80]}'."
            yield says((name,), f"a definition has no such member; known: {', '.join(_MEMBERS)}", service)
    version = data.get("Version")
    if version != VERSION:
        yield says(("Version",), f"must be '{VERSION}'")
    for name in ("Metadata", "PipelineExperimentConfig", "MlflowConfig"):
        if data.get(name) is not None and not isinstance(data[name], dict):
            yield says((name,), "must be a map", f"{UNPARSED} Expecting start of Json Object.")


def _steps(given: Any) -> tuple[dict[str, Step], list[Violation]]:
    """All steps by name, also nested ones, and the mistakes in their own members."""
    if not isinstance(given, list) or not given:
        text = "must be a list with at least one step"
        return {}, [says(("Steps",), text, f"{UNPARSED} Expecting start of Json Array.")]
    steps: dict[str, Step] = {}
    names = set[str]()
    found: list[Violation] = []
    waiting: list[_Waiting] = [(given, ("Steps",), None, None, 0)]
    number = 0
    while waiting:
        listed, path, parent, branch, deep = waiting.pop()
        if not isinstance(listed, list):
            found.append(says(path, "must be a list of steps", f"{UNPARSED} Expecting start of Json Array."))
            continue
        if deep > MOST_NESTED:
            found.append(says(path, f"steps are more than {MOST_NESTED} deep in each other"))
            continue
        number += len(listed)
        if len(found) > MOST_VIOLATIONS:
            break
        if number > MOST_STEPS:
            found.append(says(("Steps",), f"there are more than {MOST_STEPS:,} steps"))
            break
        for index, each in enumerate(listed):
            read = read_step(each, (*path, index), parent=parent, branch=branch)
            found += read.violations
            if read.step is not None:
                steps.setdefault(read.step.name, with_references(read.step))
            found += _named_again(each, (*path, index, "Name"), names)
            waiting += [(inner, at, read.step or parent, which, deep + 1) for at, inner, which in reversed(read.below)]
    return steps, found


def _named_again(given: Any, path: Path, names: set[str]) -> Iterator[Violation]:
    """A name that an earlier step has, valid or not."""
    name = given.get("Name") if isinstance(given, dict) else None
    if isinstance(name, str):
        if name in names:
            yield says(path, f"another step is named '{name[:80]}'")
        names.add(name)


def _stand_in_violations(step: Step, stand_ins: Collection[str]) -> Iterator[Violation]:
    if step.type.needs_stand_in and step.name not in stand_ins:
        program = "Python: FILE.py:HANDLER" if step.type.name == "Lambda" else "Command: [PROGRAM]"
        line = f"{LOCAL}.Steps.{step.name}: {{{program}}}"
        text = f"a step of type {step.type.name} does not run on this machine; say what stands in for it: {line}"
        yield says(step.path, text)
