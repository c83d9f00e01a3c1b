"""The arguments of the steps that make something: checked as the request that they are, with expressions in places."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.contract.model.hosting import CreateEndpointConfigInput, CreateEndpointInput, CreateModelInput
from smlocal.sagemaker.jobfile.request_reading import without_nulls
from smlocal.sagemaker.kinds import PROCESSING, TRAINING, TRANSFORM, TUNING, request_reading
from smlocal.sagemaker.pipelines.answers import shape
from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.expressions import expressions_in, gets_in, is_expression
from smlocal.sagemaker.pipelines.step_reading import UNPARSED, says
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate
from smlocal.terms.model.structure import Structure
from smlocal.terms.validation.violation import Path, Violation, closest, kind_of, spoken
from smlocal.terms.validation.walk import violations as shape_violations

_KINDS: Final = {"Training": TRAINING, "Processing": PROCESSING, "Transform": TRANSFORM, "Tuning": TUNING}
_SHAPES: Final[Mapping[str, type[Structure]]] = {
    "Model": CreateModelInput,
    "EndpointConfig": CreateEndpointConfigInput,
    "Endpoint": CreateEndpointInput,
}
_MADE_NAME: Final = "pipelines-step"
"""In place of the name that an execution makes."""
_PLAIN: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: type(value) is int,
    "long": lambda value: type(value) is int,
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "double": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "structure": lambda value: isinstance(value, dict),
    "map": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
}


def argument_violations(
    step: Step,
    document: Document,
    parameters: Mapping[str, Any],
    taken: Collection[str] = (),
    *,
    strict: bool = True,
    runs_here: bool = True,
    sources: Collection[str] = (),
) -> Iterator[Violation]:
    """The mistakes in the arguments of one step. `parameters`: those whose value is known.

    `taken`: the names of steps with a stand-in, whose arguments nothing here is made of. `strict`: jobs must be as the
    service wants them. `runs_here`: members that this machine refuses are a mistake. `sources`: of `Local.Sources`.
    """
    if not step.type.operation or step.name in taken:
        return
    at: Path = (*step.path, "Arguments")
    if LOCAL in step.arguments:
        yield says(
            (*at, LOCAL), f"{step.name}: settings of this machine are for the jobs of all steps: {LOCAL} at the top"
        )
    arguments = with_parameters({name: each for name, each in step.arguments.items() if name != LOCAL}, parameters)
    if step.type.name == "RegisterModel":
        found = list(_by_the_service(arguments, f"{step.type.operation}Input", ()))
    else:
        made = {step.type.named: _MADE_NAME, **arguments}
        found, not_done = _by_this_machine(step, made, document, strict=strict, sources=sources)
        found += not_done if runs_here else []
    places = {path for path, _ in expressions_in(arguments)}
    for each in found:
        if not any(each.path[:length] in places for length in range(len(each.path) + 1)):
            # Of other mistakes the service tells only when it invokes the operation.
            unknown = len(each.path) == 1 and each.text.startswith("unknown key")
            service = f"{UNPARSED} Unknown Argument member '{each.path[0]}'." if unknown else None
            yield Violation(path=(*at, *each.path), text=f"{step.name}: {each.text}", service=service)


def shape_of(step: Step) -> type[Structure] | None:
    """The model of the request that its arguments are; None for a step without one."""
    kind = _KINDS.get(step.type.name)
    return _SHAPES.get(step.type.name) if kind is None else request_reading(kind).SHAPE


def with_parameters(arguments: Any, parameters: Mapping[str, Any]) -> Any:
    """The arguments with every expression replaced whose value the parameters alone say."""
    known = Known(parameters=parameters)

    def replaced(value: Any) -> Any:
        if is_expression(value):
            if all(isinstance(text, str) and text.startswith("Parameters.") for _, text in gets_in(value)):
                try:
                    return evaluate(value, known)
                except ValueUnknownError:
                    return value
            return value
        if isinstance(value, dict):
            return {name: replaced(item) for name, item in value.items()}
        return [replaced(item) for item in value] if isinstance(value, list) else value

    return replaced(arguments)


def _by_this_machine(
    step: Step, request: dict[str, Any], document: Document, *, strict: bool, sources: Collection[str]
) -> tuple[list[Violation], list[Violation]]:
    """By the request of an ordinary job: its mistakes, and what this machine refuses.

    What members say together is checked if no expression is left.
    """
    kind = _KINDS.get(step.type.name)
    if kind is None:
        return shape_violations(_SHAPES[step.type.name], request, strict=True), []
    reading = request_reading(kind)
    named_model = kind is TRANSFORM and not strict  # a file of such a job has the model itself
    valid: Any = None
    if named_model or any(True for _ in expressions_in(request)):
        found = shape_violations(reading.shape(strict=strict or named_model), request, strict=strict)
        raw: Any = without_expressions(without_nulls(request))
    else:
        inner = Document(request, name=document.name, directory=document.directory)
        valid, raw, found = reading.validated(inner, strict=strict)
    return found, [violation for _, violation in reading.refused_members(valid, raw, sources)]


def without_expressions(value: Any) -> Any:
    """The value without the members of maps that are expressions; in lists they are an empty map."""
    if isinstance(value, dict):
        return {name: without_expressions(item) for name, item in value.items() if not is_expression(item)}
    if isinstance(value, list):
        return [{} if is_expression(item) else without_expressions(item) for item in value]
    return value


def _by_the_service(value: Any, name: str, path: Path) -> Iterator[Violation]:
    """By the service's own model, for a request that this machine has no model of."""
    here = shape(name)
    kind = here.get("type", "")
    if is_expression(value) or value is None or kind not in _PLAIN:
        return
    if not _PLAIN[kind](value):
        yield says(path, f"is {kind_of(value)}, and must be {'an' if kind[0] in 'aeiou' else 'a'} {kind}")
    elif kind == "structure":
        yield from _structure(value, here, path)
    elif kind == "list":
        for index, item in enumerate(value):
            yield from _by_the_service(item, here["member"]["shape"], (*path, index))
    elif kind == "map":
        for member, item in value.items():
            yield from _by_the_service(item, here["value"]["shape"], (*path, member))
    elif kind == "string" and here.get("enum") and value not in here["enum"]:
        yield says(path, f"must be one of {', '.join(here['enum'][:12])}")


def _structure(value: Mapping[str, Any], here: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    members = here["members"]
    for missing in here.get("required", ()):
        if value.get(missing) is None:
            yield says((*path, missing), "is missing")
    for member, item in value.items():
        if member in members:
            yield from _by_the_service(item, members[member]["shape"], (*path, member))
        else:
            meant = closest(member, members)
            hint = f": did you mean {meant}?" if meant else ""
            yield Violation(path=(*path, member), text=f"unknown key {spoken((*path, member[:80]))}{hint}")
