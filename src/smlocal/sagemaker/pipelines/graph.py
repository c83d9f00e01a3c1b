"""What each step waits for: names that are twice, steps that cannot be waited for, circles."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from smlocal.base.regex import regex
from smlocal.sagemaker.pipelines.definition import After, Step
from smlocal.sagemaker.pipelines.expressions import ExpressionError, gets_in, reference
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.terms.validation.violation import Path, Violation, closest

_CHILD: Final = regex(r"(?P<body>.+)-[0-9]+")
_MOST_NAMED: Final = 8
"""Steps of a circle that a sentence names."""
_MOST_COMPARED: Final = 200
"""Steps whose names are compared with a wrong one: each takes a tenth of a millisecond."""


def own_arguments(step: Step) -> Mapping[str, object]:
    """The arguments without the steps in its branches or its body."""
    nested = {"IfSteps", "ElseSteps", "ForEachBody"} if step.type.name in {"Condition", "ForEach"} else set()
    return {name: value for name, value in step.arguments.items() if name not in nested}


def referred_steps(step: Step) -> Iterator[tuple[str, Path]]:
    """The steps whose values it needs, each with the place of the reference."""
    for path, text in gets_in(own_arguments(step), (*step.path, "Arguments")):
        try:
            found = reference(text)
        except ExpressionError:
            continue  # `references` reports it
        if found.root == "Steps":
            yield found.name, path


def with_references(step: Step) -> Step:
    """The step, which also waits for the steps that it refers to."""
    named = {each.step for each in step.after}
    more: list[After] = []
    for name, path in referred_steps(step):
        if name not in named:
            named.add(name)
            more.append(After(step=name, path=path))
    return replace(step, after=(*step.after, *more)) if more else step


def graph_violations(steps: Mapping[str, Step]) -> Iterator[Violation]:
    """Dependencies that cannot be, and circles."""
    for step in steps.values():
        for after in step.after:
            text, service = _trouble(step, after, steps)
            if text:
                yield says(after.path, text, service)
    bodies = {each.name for each in steps.values() if each.parent and steps[each.parent].type.name == "ForEach"}
    for step in steps.values() if bodies else ():
        child = _CHILD.fullmatch(step.name)
        if child is not None and child["body"] in bodies:
            yield says((*step.path, "Name"), f"'{step.name}' is a name that an iteration of '{child['body']}' has")
    for circle in _circles(steps):
        names = [*circle[:_MOST_NAMED], *(["…"] if len(circle) > _MOST_NAMED else [circle[0]])]
        first = steps[circle[0]]
        place = next(after.path for after in first.after if after.step in set(circle))
        text = (
            "the step waits for itself" if len(circle) == 1 else f"these steps wait for each other: {' → '.join(names)}"
        )
        yield says(place, text)


def _trouble(step: Step, after: After, steps: Mapping[str, Step]) -> tuple[str, str | None]:
    target = steps.get(after.step)
    if target is None:
        meant = closest(after.step, steps) if len(steps) <= _MOST_COMPARED else None
        return f"there is no step '{after.step[:80]}'{f'; did you mean {meant}?' if meant else ''}", None
    if target.type.name == "Fail":
        return (
            f"'{target.name}' is a Fail step, which nothing can wait for",
            f"{step.name} can not depends on {target.name}",
        )
    if target.parent is not None and target.parent not in _around(step, steps):
        what = "a branch" if steps[target.parent].type.name == "Condition" else "the body"
        return f"'{target.name}' is in {what} of '{target.parent}', and can only be waited for there", None
    if target.parent is not None and target.parent == step.parent and target.branch is not step.branch:
        return f"'{target.name}' is in the other branch of '{target.parent}', so both never run", None
    if target.name in _around(step, steps):
        return f"the step is in '{target.name}', which it cannot wait for by name", None
    return "", None


def _around(step: Step, steps: Mapping[str, Step]) -> set[str]:
    """The names of the steps that it is in."""
    found: set[str] = set()
    while step.parent is not None:
        found.add(step.parent)
        step = steps[step.parent]
    return found


def _waits_for(step: Step, steps: Mapping[str, Step]) -> list[str]:
    """What must have ended before; a step in a branch waits for its Condition."""
    own = [after.step for after in step.after if after.step in steps]
    return own if step.parent is None else [*own, step.parent]


def _circles(steps: Mapping[str, Step]) -> Iterator[list[str]]:
    """Groups of steps that wait for each other, in the order in which they do: Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in steps:
        if root in index:
            continue
        work = [(root, iter(_waits_for(steps[root], steps)))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == index[name]:
                    group = _taken(stack, name)
                    on_stack.difference_update(group)
                    if len(group) > 1 or name in _waits_for(steps[name], steps):
                        yield group
            elif following not in index:
                index[following] = lowest[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(_waits_for(steps[following], steps))))
            elif following in on_stack:
                lowest[name] = min(lowest[name], index[following])


def _taken(stack: list[str], name: str) -> list[str]:
    """What is on top of the stack from this name on, which is taken away."""
    at = len(stack) - 1
    while stack[at] != name:
        at -= 1
    group = stack[at:]
    del stack[at:]
    return group
