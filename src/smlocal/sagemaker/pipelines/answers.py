"""Which members the answer about a step will have: by the service's own model, and by what the step says of itself."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from smlocal.sagemaker.pipelines.definition import Definition, Step
from smlocal.sagemaker.pipelines.expressions import GET, ExpressionError, is_expression, reference
from smlocal.sagemaker.pipelines.values import NAMES
from smlocal.terms.validation.violation import Path, closest, spoken

_SELECTED: Final = "Selected"
_ITERATIONS: Final = "IterationOutputs"


@cache
def _shapes() -> Mapping[str, Any]:
    from botocore.loaders import Loader  # takes a tenth of a second, which only references to steps need

    shapes: Mapping[str, Any] = Loader().load_service_model("sagemaker", "service-2")["shapes"]
    return shapes


def shape(name: str) -> Mapping[str, Any]:
    """A shape of the service's model, empty if it is not known to the botocore that is installed."""
    found: Mapping[str, Any] = _shapes().get(name, {})
    return found


def members_of(step: Step) -> Mapping[str, Any]:
    """The members of its answer, each with its shape's name; empty: they are not known."""
    found: dict[str, Any] = {}
    for name in step.type.answers:
        found.update(shape(name).get("members", {}))
    return found


def path_trouble(step: Step, path: Path, definition: Definition) -> str | None:
    """Why the answer of a step will have nothing at a path; None if it may have."""
    if not path:
        return f"it names the step '{step.name}', and no member of its answer"
    first, rest = str(path[0]), path[1:]
    if step.type.name == "ForEach" and first in {_SELECTED, _ITERATIONS}:
        return _iteration_trouble(step, path, definition)
    if first == "OutputParameters" and first in step.type.own:
        return _output_trouble(step, rest)
    if first == "PropertyFiles":
        return "a property file is read by Std:JsonGet"
    return _member_trouble(step, first, rest)


def _member_trouble(step: Step, first: str, rest: Path) -> str | None:
    """By the service's model; what only the service does answers what its stand-in says."""
    if first in step.type.own:
        return f"there is nothing below {first}" if rest else None
    if not step.type.answers and not step.type.own:
        return None
    members = members_of(step)
    if first in members:
        return _below(members[first]["shape"], rest, first) or _not_in_list(step, (first, *rest))
    unknown_model = bool(step.type.answers) and not members
    return None if unknown_model else _no_member(first, (*members, *step.type.own), step)


def _not_in_list(step: Step, path: Path) -> str | None:
    """A name that no element has: the answer repeats the lists of the arguments."""
    value: Any = step.arguments
    for place, name in enumerate(path):
        if isinstance(value, dict) and not is_expression(value):
            value = value.get(name)
        elif isinstance(value, list) and isinstance(name, str):
            names = {_name_of(each): each for each in value}
            if "" in names:
                return None  # some are known only when it runs
            if name not in names:
                meant = closest(name, names)
                hint = f"; did you mean {meant}?" if meant else f"; it has {', '.join([*names][:10])}" if names else ""
                return f"the step '{step.name}' has no '{name[:80]}' in {spoken(path[:place])}{hint}"
            value = names[name]
        else:
            return None
    return None


def _name_of(element: Any) -> str:
    """Empty if it is not known before the step runs."""
    named = next((element[each] for each in NAMES if each in element), None) if isinstance(element, dict) else None
    return named if isinstance(named, str) else ""


def _no_member(name: str, known: tuple[str, ...], step: Step) -> str:
    meant = closest(name, known)
    hint = f"; did you mean {meant}?" if meant else f"; it has {', '.join(known)}" if len(known) < 10 else ""  # noqa: PLR2004 - what fits on a line
    return f"the answer about a step of type {step.type.name} has no '{name[:80]}'{hint}"


def _output_trouble(step: Step, rest: Path) -> str | None:
    if len(rest) != 1:
        return "an output is written OutputParameters['name']"
    names = [output.name for output in step.outputs]
    if rest[0] in names:
        return None
    known = f"; it has {', '.join(names[:10])}" if names else ""
    return f"the step '{step.name}' has no output '{str(rest[0])[:80]}'{known}"


def _iteration_trouble(step: Step, path: Path, definition: Definition) -> str | None:
    bodies = {each.name: each for each in definition.children(step.name)}
    if path[0] == _ITERATIONS:
        if len(path) < 3 or not isinstance(path[1], int):  # noqa: PLR2004 - the index, and the step
            return f"it is written {_ITERATIONS}[0].STEP.MEMBER, where STEP is of the ForEachBody"
        named, rest = str(path[2]), path[3:]
    else:
        if "Selector" not in step.arguments:
            return f"the step '{step.name}' has no Selector"
        named, rest = selected_body(step), path[1:]
    if named not in bodies:
        known = ", ".join(list(bodies)[:10])
        return f"the ForEachBody of '{step.name}' has no step '{named[:80]}'; it has {known}" if named else None
    return path_trouble(bodies[named], rest, definition)


def selected_body(step: Step) -> str:
    """The step of the body that the Selector of a ForEach compares; empty if it names none."""
    selector = step.arguments.get("Selector")
    field = selector.get("Field") if isinstance(selector, dict) else None
    try:
        return reference(field.get(GET)).name if isinstance(field, dict) else ""
    except ExpressionError:
        return ""


def _below(name: str, path: Path, said: str) -> str | None:
    """The rest of a path, in a shape of the service."""
    for step in path:
        here = shape(name)
        kind = here.get("type")
        if kind == "structure":
            members = here["members"]
            if step not in members:
                meant = closest(str(step), members)
                return f"{said} has no '{str(step)[:80]}'{f'; did you mean {meant}?' if meant else ''}"
            name = members[step]["shape"]
        elif kind == "list":
            element = here["member"]["shape"]
            if isinstance(step, str) and not any(each in shape(element).get("members", {}) for each in NAMES):
                return f"{said} is a list, whose elements have no names: write {said}[0]"
            name = element
        elif kind == "map":
            name = here["value"]["shape"]
        else:
            return f"there is nothing below {said}"
        said = f"{said}[{step!r}]" if kind != "structure" else f"{said}.{step}"
    return None
