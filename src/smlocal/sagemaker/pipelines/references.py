"""Every reference of a definition: to a parameter, to a variable, to a step's answer, to a property file."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.sagemaker.pipelines.answers import path_trouble
from smlocal.sagemaker.pipelines.definition import Definition, Step
from smlocal.sagemaker.pipelines.expressions import (
    GET,
    JOIN,
    JSON_GET,
    ExpressionError,
    Reference,
    expressions_in,
    is_expression,
    property_file,
    reference,
)
from smlocal.sagemaker.pipelines.graph import own_arguments
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.sagemaker.pipelines.step_types import ADDRESSES, EXECUTION_VARIABLES, EXPERIMENT, JOB_VARIABLES
from smlocal.sagemaker.pipelines.values import parsed_path
from smlocal.terms.validation.violation import Path, Violation, closest

_MEMBERS: Final = {JOIN: frozenset({"On", "Values"}), JSON_GET: frozenset({"PropertyFile", "S3Uri", "Path"})}
_IN_FILES: Final = "PropertyFiles"


def reference_violations(definition: Definition) -> Iterator[Violation]:
    """The mistakes in all expressions."""
    for step in definition.steps.values():
        places: list[tuple[Any, Path]] = [(own_arguments(step), (*step.path, "Arguments"))]
        places += [(step.given.get(name), (*step.path, name)) for name in ADDRESSES]
        for value, path in places:
            yield from _of_value(value, path, step, definition)
        yield from _sources(step, definition)
    experiment = definition.given.get("PipelineExperimentConfig")
    yield from _of_value(experiment, ("PipelineExperimentConfig",), None, definition)


def _sources(step: Step, definition: Definition) -> Iterator[Violation]:
    """The steps that a Cleanup names."""
    resources = step.arguments.get("Resources") if step.type.name == "Cleanup" else None
    sources = resources.get("S3") if isinstance(resources, dict) else None
    for index, each in enumerate(sources if isinstance(sources, list) else ()):
        name = each.get("StepName") if isinstance(each, dict) else None
        if isinstance(name, str) and name not in definition.steps:
            meant = closest(name, definition.steps)
            text = f"there is no step '{name[:80]}'{f'; did you mean {meant}?' if meant else ''}"
            yield says((*step.path, "Arguments", "Resources", "S3", index, "StepName"), text)


def _of_value(value: Any, path: Path, step: Step | None, definition: Definition) -> Iterator[Violation]:
    waiting = list(expressions_in(value, path))[::-1]
    while waiting:
        at, each = waiting.pop()
        form, given = next(iter(each.items()))
        if form == GET:
            text = _trouble(given, step, definition)
            if text:
                yield says(at, text)
            continue
        wrong = _form_trouble(form, given)
        if wrong:
            yield says(at, wrong)
            continue
        if form == JSON_GET:
            yield from _file(each, at, definition)
            given = {"S3Uri": given.get("S3Uri")}
        waiting += list(expressions_in(given, (*at, form)))[::-1]


def _form_trouble(form: str, given: Any) -> str | None:
    if not isinstance(given, dict) or set(given) - _MEMBERS[form]:
        return f"{form} is a map with {', '.join(sorted(_MEMBERS[form]))}"
    if form == JOIN:
        values = given.get("Values")
        if not isinstance(values, list) or not isinstance(given.get("On", ""), str):
            return f"{JOIN} has On, which is text, and Values, which is a list"
        if any(isinstance(each, list | dict) and not is_expression(each) for each in values):
            return f"{JOIN} takes text, numbers, Booleans and expressions"
        return None
    if (given.get("PropertyFile") is None) == (given.get("S3Uri") is None):
        return f"{JSON_GET} has either PropertyFile or S3Uri"
    return None


def _file(expression: Mapping[str, Any], path: Path, definition: Definition) -> Iterator[Violation]:
    try:
        parsed_path(expression[JSON_GET].get("Path"))
    except ExpressionError as error:
        yield says((*path, JSON_GET, "Path"), str(error))
    try:
        named = property_file(dict(expression))
    except ExpressionError as error:
        yield says((*path, JSON_GET, "PropertyFile"), str(error))
        return
    writer = None if named is None else definition.steps.get(named[0])
    if named is None or writer is None:
        return  # a step that is not there is a mistake of the graph
    names = [file.name for file in writer.files]
    if named[1] not in names:
        known = f"; it has {', '.join(names[:10])}" if names else ""
        text = f"the step '{writer.name}' has no property file '{named[1][:80]}'{known}"
        yield says((*path, JSON_GET, "PropertyFile"), text)


def _trouble(given: Any, step: Step | None, definition: Definition) -> str | None:
    try:
        found = reference(given)
    except ExpressionError as error:
        return str(error)
    if found.root == "Parameters":
        return (
            None if found.name in definition.parameters else _unknown("parameter", found, list(definition.parameters))
        )
    if found.root == "Execution":
        return _variable_trouble(found, step)
    if found.root == "PipelineExperimentConfig" or step is None:
        return _experiment_trouble(found, step, definition)
    if found.root == "Steps":
        target = definition.steps.get(found.name)
        return None if target is None else path_trouble(target, found.path, definition)
    return _in_for_each(found, step, definition)


def _experiment_trouble(found: Reference, step: Step | None, definition: Definition) -> str | None:
    """Of a reference to PipelineExperimentConfig, or in it, where it would refer to itself."""
    if step is None:
        return "PipelineExperimentConfig can only refer to parameters and execution variables"
    config = definition.given.get("PipelineExperimentConfig")
    has = found.name in EXPERIMENT and isinstance(config, dict) and config.get(found.name) is not None
    return None if has else f"the pipeline's PipelineExperimentConfig has no '{found.name[:80]}'"


def _variable_trouble(found: Reference, step: Step | None) -> str | None:
    kind = next((kind for kind, name in JOB_VARIABLES.items() if name == found.name), None)
    if kind is not None:
        own = step is not None and step.type.name == kind
        return None if own else f"{found.text} is known only to the arguments of a {kind} step"
    return None if found.name in EXECUTION_VARIABLES else _unknown("execution variable", found, EXECUTION_VARIABLES)


def _unknown(what: str, found: Reference, known: Any) -> str:
    meant = closest(found.name, known)
    return f"there is no {what} '{found.name[:80]}'{f'; did you mean {meant}?' if meant else ''}"


def _in_for_each(found: Reference, step: Step | None, definition: Definition) -> str | None:
    if found.root == "ForEach":
        body = step is not None and step.parent is not None and definition.steps[step.parent].type.name == "ForEach"
        if not body:
            return f"{found.text} is known only in the body of a ForEach"
        return None if found.name == "CurrentItem" else "an item is written ForEach.CurrentItem"
    target = definition.steps.get(found.name)
    if step is None or target is None or target.parent != step.name:
        return f"{found.text} is known only to the Selector of the ForEach with the step '{found.name[:80]}'"
    return path_trouble(target, found.path, definition)


def property_file_violations(steps: Mapping[str, Step]) -> Iterator[Violation]:
    """Property files whose output the step does not have, and names that are twice."""
    for step in steps.values():
        config = step.arguments.get("ProcessingOutputConfig")
        outputs = config.get("Outputs") if isinstance(config, dict) else None
        listed = outputs if isinstance(outputs, list) else []
        names = [each.get("OutputName") for each in listed if isinstance(each, dict)]
        unknown = is_expression(outputs) or any(is_expression(name) for name in names)
        seen: set[str] = set()
        for index, file in enumerate(step.files):
            at: Path = (*step.path, _IN_FILES, index)
            if file.output not in names and not unknown:
                yield says((*at, "OutputName"), f"the step has no output '{file.output[:80]}'")
            if file.name in seen:
                yield says((*at, "PropertyFileName"), f"another property file is named '{file.name[:80]}'")
            seen.add(file.name)
