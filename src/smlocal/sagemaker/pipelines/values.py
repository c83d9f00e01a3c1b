"""What the expressions of a step are when it starts: a function of what is known then."""

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.pipelines.expressions import (
    GET,
    JOIN,
    JSON_GET,
    LONGEST,
    ExpressionError,
    Reference,
    is_expression,
    property_file,
    reference,
)
from smlocal.sagemaker.transform.json_path import JsonPathError, definite, parse, select
from smlocal.terms.validation.violation import Path, closest, kind_of, spoken

NAMES: Final = ("InputName", "OutputName", "MetricName", "ChannelName", "Name")
"""Members by which an element of a list can be named."""
_MOST_TEXT: Final = 1 << 20
"""Characters that a Std:Join makes: as many as a definition may have."""


class ValueUnknownError(Exception):
    """An expression has no value; the sentence says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What expressions can refer to."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By name, of their own type."""
    execution: Mapping[str, str] = field(default_factory=dict)
    """The execution variables."""
    experiment: Mapping[str, Any] = field(default_factory=dict)
    """The pipeline's PipelineExperimentConfig, evaluated."""
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of each step that has ended to its answer. `OutputParameters` is a map there."""
    file_of: Callable[[str, str], Any] | None = None
    """The JSON document in a property file of a step; raises `ValueUnknownError`."""
    object_at: Callable[[str], Any] | None = None
    """The JSON document at a location in S3; raises `ValueUnknownError`."""
    item: Any = None
    """In a ForEach: the item. None elsewhere."""
    iteration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For the Selector of a ForEach: the answers of the steps of one iteration, by their names in its body."""


def evaluate(value: Any, known: Known, path: Path = ()) -> Any:
    """The value with every expression replaced; `ValueUnknownError` names the first that has no value."""
    if is_expression(value):
        try:
            return _value(value, known)
        except (ValueUnknownError, ExpressionError) as error:
            where = f"{spoken(path)}: " if path else ""
            raise ValueUnknownError(f"{where}{error}") from error
    if isinstance(value, dict):
        return {name: evaluate(item, known, (*path, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [evaluate(item, known, (*path, index)) for index, item in enumerate(value)]
    return value


def as_far_as_known(value: Any, known: Known) -> Any:
    """The value; an expression without a value stays as it is written."""
    if isinstance(value, dict) and not is_expression(value):
        return {name: as_far_as_known(item, known) for name, item in value.items()}
    if isinstance(value, list):
        return [as_far_as_known(item, known) for item in value]
    try:
        return evaluate(value, known)
    except ValueUnknownError:
        return value


def printed(value: Any) -> str:
    """A plain value as text: `true`, `5`, `0.5`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueUnknownError(f"{kind_of(value)} is not text; Std:Join takes text, numbers and Booleans")


def _value(expression: Mapping[str, Any], known: Known) -> Any:
    form, given = next(iter(expression.items()))
    if form == GET:
        return _referred(reference(given), known)
    if not isinstance(given, dict):
        raise ExpressionError(f"{form} needs a map")
    return _joined(given, known) if form == JOIN else _read(dict(expression), known)


def _joined(given: Mapping[str, Any], known: Known) -> str:
    between, values = given.get("On", ""), given.get("Values")
    if not isinstance(between, str) or not isinstance(values, list):
        raise ExpressionError(f"{JOIN} has On, which is text, and Values, which is a list")
    pieces = [printed(evaluate(each, known)) for each in values]
    if sum(map(len, pieces)) + len(between) * len(pieces) > _MOST_TEXT:
        raise ValueUnknownError(f"{JOIN} makes more than {_MOST_TEXT:,} characters")
    return between.join(pieces)


def _read(expression: dict[str, Any], known: Known) -> Any:
    given = expression[JSON_GET]
    named = property_file(expression)
    if named is not None:
        if known.file_of is None:
            raise ValueUnknownError(f"the property file '{named[1]}' of '{named[0]}' is not read here")
        return selected(known.file_of(*named), given.get("Path"), f"the property file '{named[1]}'")
    location = evaluate(given.get("S3Uri"), known)
    if not isinstance(location, str):
        raise ExpressionError(f"{JSON_GET} has PropertyFile and Path, or S3Uri and Path")
    if known.object_at is None:
        raise ValueUnknownError(f"{location} is not read here")
    return selected(known.object_at(location), given.get("Path"), location)


def parsed_path(path: Any) -> Any:
    """The steps of the path of a Std:JsonGet, which leads to one value; `ExpressionError` if it is none."""
    if not isinstance(path, str) or not path or len(path) > LONGEST:
        raise ExpressionError(f"Path is text of 1 to {LONGEST:,} characters, such as metrics.accuracy.value")
    start = "" if path.startswith("$") else "$" if path.startswith("[") else "$."
    try:
        steps = parse(start + path)
    except JsonPathError as error:
        raise ExpressionError(f"Path '{path[:80]}': {error}") from error
    if not definite(steps):
        raise ExpressionError(f"Path '{path[:80]}' selects several values; name one")
    return steps


def selected(document: Any, path: Any, source: str) -> Any:
    """The value at a path of a JSON document."""
    try:
        value = select(parsed_path(path), document)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except JsonPathError as error:
        raise ValueUnknownError(f"{source} has nothing at '{path}': {error}") from error
    except ValueError:  # Python's own writers of JSON make such files
        text = f"{source} has at '{path}' what is no JSON: NaN, Infinity or half a character"
        raise ValueUnknownError(text) from None
    return value


def _referred(to: Reference, known: Known) -> Any:
    if to.root == "Parameters":
        return _named(known.parameters, to, "a parameter of the pipeline")
    if to.root == "Execution":
        return _named(known.execution, to, "an execution variable")
    if to.root == "PipelineExperimentConfig":
        return _named(known.experiment, to, "a member of PipelineExperimentConfig")
    if to.root == "ForEach":
        return _item(to, known)
    answers = known.iteration if to.root == "IterationOutput" else known.answers
    if to.name not in answers:
        raise ValueUnknownError(f"{to.text}: the step '{to.name}' has no answer, because it has not succeeded")
    return at_path(answers[to.name], to.path, to.text)


def _named(values: Mapping[str, Any], to: Reference, what: str) -> Any:
    if to.name not in values:
        raise ValueUnknownError(f"'{to.name}' is not {what}")
    return values[to.name]


def _item(to: Reference, known: Known) -> Any:
    if known.item is None or to.name != "CurrentItem":
        raise ValueUnknownError(f"{to.text} is known only to the body of a ForEach")
    return at_path(known.item, to.path, to.text)


def at_path(value: Any, path: Path, text: str) -> Any:
    """What a path leads to. Elements of a list may be named; `ValueUnknownError` if there is nothing."""
    for step in path:
        if isinstance(value, list):
            value = _element(value, step, text)
        elif isinstance(value, Mapping) and isinstance(step, str):
            if value.get(step) is None:
                meant = closest(step, value)
                hint = f"; did you mean {meant}?" if meant else ""
                raise ValueUnknownError(f"{text}: the answer has no '{step}'{hint}")
            value = value[step]
        else:
            raise ValueUnknownError(f"{text}: there is nothing below {kind_of(value)}")
    return value


def _element(values: list[Any], step: str | int, text: str) -> Any:
    if isinstance(step, int):
        if step >= len(values):
            raise ValueUnknownError(f"{text}: the list has {len(values)} elements, and none at {step}")
        return values[step]
    for each in values:
        if isinstance(each, Mapping) and any(each.get(name) == step for name in NAMES):
            return each
    raise ValueUnknownError(f"{text}: the list has no element named '{step}'")
