"""The conditions of a Condition step: what is wrong with one, and whether it holds."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.sagemaker.pipelines.step_types import MOST_NESTED
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate
from smlocal.terms.validation.violation import Path, Violation, closest, kind_of, spoken

_COMPARED: Final = ("Equals", "GreaterThan", "GreaterThanOrEqualTo", "LessThan", "LessThanOrEqualTo")
CONDITIONS: Final = (*_COMPARED, "In", "Not", "Or")
_MEMBERS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    **dict.fromkeys(_COMPARED, (("LeftValue",), ("RightValue",))),
    "In": (("QueryValue", "Value"), ("Values", "In")),
    "Not": (("Expression", "Condition"),),
    "Or": (("Conditions",),),
}
"""The members of each, which may have two names: what clients write, and what the published schema says."""


def condition_violations(conditions: Any, path: Path) -> Iterator[Violation]:
    """The mistakes in a list of conditions, also in those that they are made of."""
    waiting = deque((each, at, 0) for each, at in _listed(conditions, path))
    while waiting:
        given, at, deep = waiting.popleft()
        if given is None:
            yield Violation(path=at, text=f"{spoken(at)} must be a list with at least one condition")
        elif not isinstance(given, dict) or not isinstance(given.get("Type"), str):
            yield Violation(path=at, text=f"{spoken(at)} must be a map with a Type")
        elif given["Type"] not in CONDITIONS:
            yield _unknown_type(given["Type"], (*at, "Type"))
        elif deep > MOST_NESTED:
            yield Violation(path=at, text=f"conditions are more than {MOST_NESTED} deep in each other")
        else:
            yield from _members(given, at)
            waiting += [(each, inner, deep + 1) for each, inner in _below(given, at)]


def _listed(conditions: Any, path: Path) -> list[tuple[Any, Path]]:
    """Each with its place; None for what is no such list."""
    if not isinstance(conditions, list) or not conditions:
        return [(None, path)]
    return [(each if each is not None else "", (*path, index)) for index, each in enumerate(conditions)]


def _unknown_type(given: str, path: Path) -> Violation:
    meant = closest(given, CONDITIONS)
    hint = f"did you mean {meant}?" if meant else f"known: {', '.join(CONDITIONS)}"
    return Violation(path=path, text=f"'{given[:80]}' is not a type of condition; {hint}")


def _members(condition: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    wanted = _MEMBERS[condition["Type"]]
    known = {"Type", *(name for names in wanted for name in names)}
    for name in condition:
        if name not in known:
            text = f"a condition of type {condition['Type']} has no '{name[:80]}'"
            yield Violation(path=(*path, name), text=text, service=_unknown_property(name))
    for names in wanted:
        if all(condition.get(name) is None for name in names):
            yield Violation(path=path, text=f"a condition of type {condition['Type']} needs {names[0]}")
    values = next((condition[name] for name in ("Values", "In") if condition.get(name) is not None), None)
    if condition["Type"] == "In" and values is not None and not isinstance(values, list):
        yield Violation(path=path, text="the Values of an In must be a list")


def _unknown_property(name: str) -> str:
    return f"Unable to parse pipeline definition. Cannot parse object, unknown property '{name[:80]}'."


def _below(condition: Mapping[str, Any], path: Path) -> list[tuple[Any, Path]]:
    """The conditions that it is made of."""
    if condition["Type"] == "Or" and condition.get("Conditions") is not None:
        return _listed(condition["Conditions"], (*path, "Conditions"))
    names = [name for name in ("Expression", "Condition") if condition.get(name) is not None]
    return [(condition[name], (*path, name)) for name in names[:1] if condition["Type"] == "Not"]


def all_hold(conditions: list[Any], known: Known) -> bool:
    """The outcome of a Condition step; `ValueUnknownError` if one cannot be judged."""
    return all(holds(each, known) for each in conditions)


def holds(condition: Mapping[str, Any], known: Known) -> bool:
    """Whether one condition holds. All members have been checked."""
    kind = condition["Type"]
    if kind == "Or":
        return any(holds(each, known) for each in condition["Conditions"])
    if kind == "Not":
        return not holds(_given(condition, "Expression", "Condition"), known)
    if kind == "In":
        wanted = evaluate(_given(condition, "QueryValue", "Value"), known)
        return any(_equal(wanted, evaluate(each, known)) for each in _given(condition, "Values", "In"))
    left, right = evaluate(condition["LeftValue"], known), evaluate(condition["RightValue"], known)
    if kind == "Equals":
        return _equal(left, right)
    order = _order(left, right)
    return {
        "GreaterThan": order > 0,
        "GreaterThanOrEqualTo": order >= 0,
        "LessThan": order < 0,
        "LessThanOrEqualTo": order <= 0,
    }[str(kind)]


def _given(condition: Mapping[str, Any], *names: str) -> Any:
    return next(condition[name] for name in names if condition.get(name) is not None)


def _equal(left: Any, right: Any) -> bool:
    """True and 1 differ, and so do 1 and '1'; 1 and 1.0 are equal."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _order(left: Any, right: Any) -> int:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (left, right))
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        raise ValueUnknownError(f"{kind_of(left)} and {kind_of(right)} cannot be compared")
    return int(left > right) - int(left < right)
