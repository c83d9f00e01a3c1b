"""Whether the result of an earlier execution may be used for a step, and if not, which key differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.pipelines.definition import Step
from smlocal.terms.validation.violation import Path, dotted

_MOST_CHANGES: Final = 20
NOT_CACHED: Final = "the service caches no step"
NOT_ENABLED: Final = "the step has no CacheConfig with Enabled: true"
_SUCCEEDED: Final = "Succeeded"
_CONTENTS: Final = "Contents"
"""The key of what lies at locations, which the service does not look at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Earlier:
    """A step of the same name in an earlier execution of the same pipeline."""

    execution: str
    """The ARN of the execution."""
    execution_status: str
    step_status: str
    ended: float
    """When the step did."""
    type: str
    """The step's type then."""
    arguments: Mapping[str, Any] = field(repr=False)
    """As they were evaluated."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """A digest of what lay at each location, if that was looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A key that has another value than in an earlier execution."""

    key: str
    """`InputDataConfig[0].DataSource.S3DataSource.S3Uri`."""
    before: Any
    """None: it was not there."""
    after: Any
    """None: it is not there now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheAnswer:
    """What the cache says about a step."""

    source: str | None = None
    """The ARN of the execution whose result is used; None: the step runs."""
    why: str = ""
    """Why it runs."""
    compared: str | None = None
    """The execution that it was compared with."""
    changes: tuple[Change, ...] = ()
    """The keys that differ."""


def cache_keys(step: Step, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same, of the evaluated arguments. A member that is left out is one that is null."""
    found: dict[str, Any] = {}
    for key in step.type.keys:
        value: Any = arguments
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            found[key] = value
    return found


def ask_cache(
    step: Step,
    arguments: Mapping[str, Any],
    earlier: Sequence[Earlier],
    now: float,
    *,
    contents: Mapping[str, str] | None = None,
) -> CacheAnswer:
    """A hit, or why there is none. `arguments`: as they are evaluated now.

    `contents`: a digest of what lies at each location now, which must be the same too; None: it is not looked at.
    """
    if not step.type.keys:
        return CacheAnswer(why=f"{NOT_CACHED} of type {step.type.name}")
    if step.cache is None or not step.cache.enabled:
        return CacheAnswer(why=NOT_ENABLED)
    newest = sorted(earlier, key=lambda each: each.ended, reverse=True)
    whole = [each for each in newest if each.execution_status == _SUCCEEDED and each.step_status == _SUCCEEDED]
    oldest = None if step.cache.seconds is None else now - step.cache.seconds
    fresh = [each for each in whole if (oldest is None or each.ended >= oldest) and each.type == step.type.name]

    def compared(values: Mapping[str, Any], at: Mapping[str, str]) -> dict[str, Any]:
        return cache_keys(step, values) | ({} if contents is None else {_CONTENTS: dict(at)})

    keys = compared(arguments, contents or {})
    for each in fresh:
        if compared(each.arguments, each.contents) == keys:
            return CacheAnswer(source=each.execution)
    if fresh:
        changes = tuple(changed(compared(fresh[0].arguments, fresh[0].contents), keys))
        more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        why = f"{changes[0].key}{more} differ{'' if more else 's'} from the last run"
        return CacheAnswer(why=why, compared=fresh[0].execution, changes=changes)
    return CacheAnswer(why=_nothing(newest, whole))


def _nothing(newest: Sequence[Earlier], whole: Sequence[Earlier]) -> str:
    """Why no earlier run counts."""
    if whole:
        return "its last result is older than ExpireAfter, or of another type"
    if not newest:
        return "no earlier execution has run it"
    if newest[0].step_status != _SUCCEEDED:
        return f"in the last execution it ended as {newest[0].step_status}"
    return f"the last execution ended as {newest[0].execution_status}, and only a whole one that succeeded counts"


def changed(before: Any, after: Any) -> Iterator[Change]:
    """The innermost values that differ, in the order of what is there now; the first of them, if there are many."""
    waiting: list[tuple[Path, Any, Any]] = [((), before, after)]
    number = 0
    while waiting and number < _MOST_CHANGES:
        path, old, new = waiting.pop()
        if old == new and type(old) is type(new):
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = list(dict.fromkeys([*new, *old]))
            waiting += [((*path, name), old.get(name), new.get(name)) for name in reversed(names)]
        elif isinstance(old, list) and isinstance(new, list):
            places = range(max(len(old), len(new)) - 1, -1, -1)
            waiting += [((*path, index), _at(old, index), _at(new, index)) for index in places]
        else:
            number += 1
            yield Change(key=dotted(path), before=old, after=new)


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None
