"""The expressions of a definition: what one is, what a reference names, and where they are in a value."""

import re
from collections.abc import Iterator
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.terms.validation.violation import Path

GET: Final = "Get"
JOIN: Final = "Std:Join"
JSON_GET: Final = "Std:JsonGet"
_FORMS: Final = frozenset({GET, JOIN, JSON_GET})
LONGEST: Final = 2_048
"""Characters of a reference, or of a path in a JSON document."""
_STEP: Final = regex(
    r"\.(?P<name>[A-Za-z0-9_\-]+)|\[(?P<place>[0-9]{1,9})\]|\[(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")\]"
)
_HEAD: Final = regex(r"[A-Za-z]+")
_ROOTS: Final = ("Parameters", "Steps", "Execution", "PipelineExperimentConfig", "ForEach", "IterationOutput")


class ExpressionError(Exception):
    """A text is no reference, or a form is not what it should be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """What a `Get` names."""

    root: str
    """`Parameters`, `Steps`, `Execution`, `PipelineExperimentConfig`; in a ForEach `ForEach`, `IterationOutput`."""
    name: str
    """The parameter, the step or the variable."""
    path: Path = ()
    """What follows: members, places in lists, keys."""

    @property
    def text(self) -> str:
        """As it is written."""
        rest = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{self.root}.{self.name}{rest}"


def is_expression(value: Any) -> bool:
    """True for a map that stands for a value."""
    return isinstance(value, dict) and len(value) == 1 and not _FORMS.isdisjoint(value)


def reference(text: Any) -> Reference:
    """What a `Get` names; `ExpressionError` if it is no reference."""
    if not isinstance(text, str):
        raise ExpressionError("a Get is text, such as Steps.Train.ModelArtifacts.S3ModelArtifacts")
    if len(text) > LONGEST:
        raise ExpressionError(f"a reference has at most {LONGEST:,} characters, and this one has {len(text):,}")
    head = _HEAD.match(text)
    root = head.group() if head is not None else ""
    if root not in _ROOTS:
        raise ExpressionError(f"'{text[:80]}' begins with neither Parameters., Steps. nor Execution.")
    steps = _steps(text, len(root))
    if not steps or not isinstance(steps[0], str):
        raise ExpressionError(f"'{text[:80]}' names nothing")
    if root in {"Parameters", "Execution", "PipelineExperimentConfig"} and len(steps) > 1:
        raise ExpressionError(f"'{text[:80]}' goes below {root}.{steps[0]}, which is a plain value")
    return Reference(root=root, name=steps[0], path=tuple(steps[1:]))


def _steps(text: str, at: int) -> list[str | int]:
    steps: list[str | int] = []
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise ExpressionError(f"'{text[at : at + 40]}' in '{text[:80]}' is not .name, [0] or ['name']")
        steps.append(_step(found))
        at = found.end()
    return steps


def _step(found: re.Match[str]) -> str | int:
    if found["place"] is not None:
        return int(found["place"])
    return next(part for part in (found["name"], found["one"], found["two"]) if part is not None)


def expressions_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The outermost expressions of a value, with their places, in the order of the value."""
    waiting: list[tuple[Path, Any]] = [(path, value)]
    while waiting:
        at, each = waiting.pop()
        if is_expression(each):
            yield at, each
        elif isinstance(each, dict):
            waiting += [((*at, name), item) for name, item in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [((*at, index), each[index]) for index in range(len(each) - 1, -1, -1)]


def gets_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The text of every `Get`, also those in other expressions, with its place."""
    waiting = list(expressions_in(value, path))[::-1]
    while waiting:
        at, each = waiting.pop()
        if GET in each:
            yield (*at, GET), each[GET]
            continue
        form = next(iter(each))
        waiting += list(expressions_in(each[form], (*at, form)))[::-1]


def property_file(expression: dict[str, Any]) -> tuple[str, str] | None:
    """The step and the file that a Std:JsonGet reads; None if it reads an object."""
    given = expression[JSON_GET]
    if not isinstance(given, dict):
        raise ExpressionError("Std:JsonGet has PropertyFile and Path, or S3Uri and Path")
    named = given.get("PropertyFile")
    if named is None:
        return None
    found = reference(named[GET]) if is_expression(named) and GET in named else None
    if found is None or found.root != "Steps" or len(found.path) != 2 or found.path[0] != "PropertyFiles":  # noqa: PLR2004 - PropertyFiles and the name
        raise ExpressionError('PropertyFile is {"Get": "Steps.NAME.PropertyFiles.FILE"}')
    return found.name, str(found.path[1])
