"""The parameters of a pipeline: their definitions, and the values of one execution."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.regex import regex
from smlocal.sagemaker.pipelines.definition import Parameter
from smlocal.sagemaker.pipelines.step_reading import UNPARSED, says
from smlocal.sagemaker.pipelines.step_types import MOST_PARAMETERS, PARAMETER_TYPES
from smlocal.terms.validation.violation import Path, Violation, closest, kind_of

_NAME: Final = regex(r"[A-Za-z0-9\-_]{1,256}")
_WHOLE: Final = regex(r"[+-]?[0-9]{1,19}")
_NUMBER: Final = regex(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_CHARACTERS: Final = 1_024
_PLACE: Final = "Parameters"
_MEMBERS: Final = ("Name", "Type", "DefaultValue", "EnumValues", "Description", "DisplayName")
_WORDS: Final = {
    "String": "text",
    "Integer": "a whole number",
    "Boolean": "true or false",
    "Float": "a number",
}


def read_parameters(given: Any) -> tuple[dict[str, Parameter], list[Violation]]:
    """The parameters that a definition has, and the mistakes in them."""
    path: Path = (_PLACE,)
    if given is None:
        return {}, []
    if not isinstance(given, list):
        text = f"is {kind_of(given)}, and must be a list"
        return {}, [says(path, text, f"{UNPARSED} Expecting start of Json Array.")]
    parameters: dict[str, Parameter] = {}
    found: list[Violation] = []
    if len(given) > MOST_PARAMETERS:
        found.append(says(path, f"has {len(given):,} parameters; {MOST_PARAMETERS} are allowed"))
    for index, each in enumerate(given):
        at: Path = (*path, index)
        wrong = list(_violations(each, at, parameters))
        found += wrong
        name = each.get("Name") if isinstance(each, dict) else None
        if isinstance(name, str):  # a wrong one as well: references to it are no mistake besides
            parameters[name] = Parameter(
                name=name,
                kind=str(each.get("Type")),
                default=None if wrong else each.get("DefaultValue"),
                allowed=() if wrong else tuple(each.get("EnumValues") or ()),
            )
    return parameters, found


def _violations(given: Any, path: Path, before: Mapping[str, Parameter]) -> Iterator[Violation]:
    if not isinstance(given, dict):
        yield says(path, f"is {kind_of(given)}, and must be a map", f"{UNPARSED} Expecting start of Json Object.")
        return
    for member in given:
        if member not in _MEMBERS:
            service = f"{UNPARSED} Cannot parse object, unknown property '{member[:80]}'."
            yield says((*path, member), f"a parameter has no such member; known: {', '.join(_MEMBERS)}", service)
    name, kind = given.get("Name"), given.get("Type")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield says((*path, "Name"), "must have 1 to 256 letters, digits, hyphens and underscores")
    elif name in before:
        yield says((*path, "Name"), f"another parameter is named '{name}'")
    if kind not in PARAMETER_TYPES:
        yield says((*path, "Type"), f"must be one of {', '.join(PARAMETER_TYPES)}")
        return
    yield from _value_violations(kind, given.get("DefaultValue"), given.get("EnumValues"), path)


def _value_violations(kind: str, default: Any, allowed: Any, path: Path) -> Iterator[Violation]:
    if default is not None and not _is_of(kind, default):
        yield says((*path, "DefaultValue"), f"must be {_WORDS[kind]}, as the parameter is of type {kind}")
    if allowed is None:
        return
    if not isinstance(allowed, list) or not allowed or not all(_is_of(kind, each) for each in allowed):
        yield says((*path, "EnumValues"), f"must be a list, each of it {_WORDS[kind]}")
    elif default is not None and default not in allowed:
        yield says((*path, "DefaultValue"), f"must be one of EnumValues: {_listed(allowed)}")


def _is_of(kind: str, value: Any) -> bool:
    if kind == "String":
        return isinstance(value, str)
    if kind == "Boolean":
        return isinstance(value, bool)
    if kind == "Integer":
        return type(value) is int
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _listed(values: Any) -> str:
    shown = [str(each)[:80] for each in values[:10]]
    return ", ".join([*shown, "…"] if len(values) > len(shown) else shown)


def values_of(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The value of each parameter, of its own type, and each name with what is wrong about its value.

    `given`: as StartPipelineExecution has them, all as text; values of their own type are taken too.
    """
    values: dict[str, Any] = {}
    wrong: list[tuple[str, str]] = []
    for name in given:
        if name not in parameters:
            meant = closest(name, parameters)
            hint = (
                f"; did you mean {meant}?" if meant else f"; it has {_listed(list(parameters))}" if parameters else ""
            )
            wrong.append((name, f"the pipeline has no parameter '{name[:80]}'{hint}"))
    for name, parameter in parameters.items():
        if name not in given:
            if parameter.default is None:
                wrong.append((name, f"the parameter '{name}' has no default, and no value was given"))
            else:
                values[name] = parameter.default
            continue
        value = typed(parameter.kind, given[name])
        if value is None:
            wrong.append((name, f"the parameter '{name}' must be {_WORDS[parameter.kind]}"))
        elif parameter.allowed and value not in parameter.allowed:
            wrong.append((name, f"the parameter '{name}' must be one of {_listed(parameter.allowed)}"))
        else:
            values[name] = value
    return values, wrong


def typed(kind: str, value: Any) -> Any:
    """A value of this type, also from text; None if it is none. For outputs of Lambda and Callback as well."""
    if _is_of(kind, value):
        return value if kind != "String" or len(value) <= _MOST_CHARACTERS else None
    if not isinstance(value, str):
        return None
    if kind == "Boolean":
        return {"true": True, "false": False}.get(value.casefold())
    if kind == "Integer":
        return int(value) if _WHOLE.fullmatch(value) else None
    number = float(value) if _NUMBER.fullmatch(value) else math.inf  # Python reads more, such as 1_0 and ' 5 '
    return number if math.isfinite(number) else None
