"""Reads one step of a definition: the step, and the mistakes in its own members."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.sagemaker.pipelines.conditions import condition_violations
from smlocal.sagemaker.pipelines.definition import (
    SUCCEEDED,
    After,
    CacheConfig,
    Output,
    PropertyFile,
    RetryPolicy,
    Step,
)
from smlocal.sagemaker.pipelines.expressions import is_expression
from smlocal.sagemaker.pipelines.step_types import (
    ADDRESSES,
    COMPLETED,
    MOST_ITEMS,
    MOST_OUTPUTS,
    MOST_PARALLEL,
    PARAMETER_TYPES,
    STEP_TYPES,
    TRIGGERS,
    StepType,
)
from smlocal.terms.validation.violation import Path, Violation, closest, kind_of, spoken

UNPARSED: Final = "Unable to parse pipeline definition."
_NAME: Final = regex(r"[A-Za-z0-9\-_]{1,64}")
_DURATION: Final = regex(
    r"P?(?:(?P<y>\d+)Y)?(?:(?P<mo>\d+)M)?(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)S)?)?"
)
_SECONDS: Final = {"y": 31_536_000, "mo": 2_592_000, "w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST_DURATION: Final = 40
EXCEPTIONS: Final = (
    *("Step.SERVICE_FAULT", "Step.THROTTLING", "SageMaker.JOB_INTERNAL_ERROR"),
    *("SageMaker.CAPACITY_ERROR", "SageMaker.RESOURCE_LIMIT"),
)
_LONGEST_PLACE: Final = 6
"""Parts of a path that a sentence has: steps may be deep in each other, and the line is known."""
_MOST_RETRIES: Final = 20
_MOST_MINUTES: Final = 14_400
_NOT_IN_BODIES: Final = ("Condition", "Fail", "ForEach")


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A step as far as it could be read, and the mistakes in it."""

    step: Step | None
    violations: list[Violation]
    below: tuple[tuple[Path, Any, bool | None], ...] = ()
    """The lists of steps in it, each with its place and its branch."""


def duration(text: Any) -> float | None:
    """The seconds of an ISO 8601 duration, also without its P; None if it is none. A month has 30 days."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST_DURATION:
        return None
    found = _DURATION.fullmatch(text.upper())
    if found is None or not any(found.groupdict().values()):
        return None
    return float(sum(int(number) * _SECONDS[unit] for unit, number in found.groupdict().items() if number))


def says(path: Path, text: str, service: str | None = None) -> Violation:
    """A mistake whose sentence begins with its place."""
    shown = spoken(path) if len(path) <= _LONGEST_PLACE else f"….{spoken(path[-_LONGEST_PLACE:])}"
    return Violation(path=path, text=f"{shown}: {text}", service=service)


def read_step(given: Any, path: Path, *, parent: Step | None, branch: bool | None) -> Found:
    """One step of a list of steps."""
    if not isinstance(given, dict):
        service = f"{UNPARSED} Expecting start of Json Object."
        return Found(step=None, violations=[says(path, f"a step is a map, not {kind_of(given)}", service)])
    found = list(_name_violations(given, path))
    kind = STEP_TYPES.get(given["Type"]) if isinstance(given.get("Type"), str) else None
    if kind is None:
        found.append(_unknown_type(given, path))
        return Found(step=None, violations=found)
    arguments = given.get("Arguments")
    if not isinstance(arguments, dict):
        optional = arguments is None and kind.name in {"Lambda", "Callback"}
        if not optional and not kind.needs_stand_in:
            text = "is missing" if arguments is None else f"is {kind_of(arguments)}, and must be a map"
            found.append(says((*path, "Arguments"), text, f"{UNPARSED} Expecting start of Json Object."))
        arguments = {}
    found += _unknown_members(given, kind, path)
    found += _texts(given, path)
    after, wrong = _dependencies(given.get("DependsOn"), (*path, "DependsOn"))
    found += wrong
    retries, wrong = _retries(given.get("RetryPolicies"), (*path, "RetryPolicies"))
    found += wrong
    cache, wrong = _cache(given.get("CacheConfig"), (*path, "CacheConfig"))
    found += wrong
    outputs, wrong = _outputs(given.get("OutputParameters"), (*path, "OutputParameters"))
    found += wrong
    files, wrong = _files(given.get("PropertyFiles"), (*path, "PropertyFiles"))
    found += wrong
    if parent is not None and parent.type.name == "ForEach" and kind.name in _NOT_IN_BODIES:
        found.append(says(path, f"a step of type {kind.name} cannot be in the body of a ForEach"))
    below, wrong = _own_arguments(kind, arguments, (*path, "Arguments"))
    found += wrong
    if not isinstance(given.get("Name"), str):
        return Found(step=None, violations=found, below=below)
    step = Step(
        name=given["Name"],
        type=kind,
        path=path,
        given=given,
        arguments=arguments,
        parent=None if parent is None else parent.name,
        branch=branch,
        after=after,
        retries=retries,
        cache=cache,
        outputs=outputs,
        files=files,
    )
    return Found(step=step, violations=found, below=below)


def _name_violations(given: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    name = given.get("Name")
    at: Path = (*path, "Name")
    if not isinstance(name, str):
        yield says(at, "is missing" if name is None else f"is {kind_of(name)}, and must be a string")
    elif not name:
        yield says(at, "is empty", '[string "" is too short (length: 0, required minimum: 1)]')
    elif not _NAME.fullmatch(name):
        yield says(at, f"'{name[:80]}' must have 1 to 64 letters, digits, hyphens and underscores")


def _unknown_type(given: Mapping[str, Any], path: Path) -> Violation:
    kind = given.get("Type")
    at: Path = (*path, "Type")
    if not isinstance(kind, str):
        return says(at, "is missing" if kind is None else f"is {kind_of(kind)}, and must be a string")
    meant = closest(kind, STEP_TYPES)
    return says(at, f"'{kind[:80]}' is not a type of step; {f'did you mean {meant}?' if meant else _types()}")


def _types() -> str:
    return f"known: {', '.join(STEP_TYPES)}"


def _unknown_members(given: Mapping[str, Any], kind: StepType, path: Path) -> Iterator[Violation]:
    for name in given if kind.members else ():
        if name not in kind.members:
            meant = closest(name, kind.members)
            hint = f"did you mean {meant}?" if meant else f"known: {', '.join(kind.members)}"
            text = f"a step of type {kind.name} has no such member; {hint}"
            yield says((*path, name), text, f"{UNPARSED} Cannot parse object, unknown property '{name[:80]}'.")


def _texts(given: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    for name, most in (("DisplayName", 256), ("Description", 3_072)):
        text = given.get(name)
        if text is not None and (not isinstance(text, str) or len(text) > most):
            yield says((*path, name), f"must be text of at most {most:,} characters")
    for name in ADDRESSES:
        text = given.get(name)
        if text is not None and not isinstance(text, str) and not is_expression(text):
            yield says((*path, name), "must be text, or an expression")


def _dependencies(given: Any, path: Path) -> tuple[tuple[After, ...], list[Violation]]:
    if given is None:
        return (), []
    if not isinstance(given, list):
        service = f"{UNPARSED} Expecting start of Json Array."
        return (), [says(path, f"is {kind_of(given)}, and must be a list of names of steps", service)]
    after, found = [], []
    for index, each in enumerate(given):
        at: Path = (*path, index)
        if isinstance(each, str):
            after.append(After(step=each, path=at))
        elif not isinstance(each, dict) or not isinstance(each.get("Step"), str) or set(each) - {"Step", "Trigger"}:
            found.append(says(at, "must be the name of a step, or a map with Step and Trigger"))
        elif each.get("Trigger", "Any") not in (COMPLETED, *TRIGGERS):
            found.append(says((*at, "Trigger"), f"must be one of {', '.join((COMPLETED, *TRIGGERS))}"))
        else:
            trigger = each.get("Trigger", COMPLETED)
            after.append(After(step=each["Step"], path=at, trigger=SUCCEEDED if trigger == COMPLETED else trigger))
    return tuple(after), found


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _retries(given: Any, path: Path) -> tuple[tuple[RetryPolicy, ...], list[Violation]]:
    policies, found = [], []
    if given is not None and not isinstance(given, list):
        return (), [says(path, "must be a list of policies", f"{UNPARSED} Expecting start of Json Array.")]
    for index, each in enumerate(given or ()):
        at: Path = (*path, index)
        wrong = list(_policy_violations(each, at))
        found += wrong
        if not wrong:
            kinds = each["ExceptionType"]
            policies.append(
                RetryPolicy(
                    exceptions=tuple(kinds) if isinstance(kinds, list) else (kinds,),
                    interval=float(each.get("IntervalSeconds", 1)),
                    backoff=float(each.get("BackoffRate", 2.0)),
                    most=each.get("MaxAttempts"),
                    minutes=each.get("ExpireAfterMin"),
                )
            )
    return tuple(policies), found


def _policy_violations(given: Any, path: Path) -> Iterator[Violation]:
    if not isinstance(given, dict):
        yield says(path, "must be a map")
        return
    known = ("ExceptionType", "IntervalSeconds", "BackoffRate", "MaxAttempts", "ExpireAfterMin")
    for name in given:
        if name not in known:
            service = f"{UNPARSED} Cannot parse object, unknown property '{name[:80]}'."
            yield says((*path, name), f"a retry policy has no such member; known: {', '.join(known)}", service)
    kinds = given.get("ExceptionType")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    for each in kinds or [None]:
        if each not in EXCEPTIONS:
            yield says((*path, "ExceptionType"), f"must be of {', '.join(EXCEPTIONS)}")
            break
    for name, least in (("IntervalSeconds", 0), ("BackoffRate", 0)):
        value = given.get(name)
        if value is not None and (not _number(value) or value < least):
            yield says((*path, name), f"must be a number of at least {least}")
    for name, most in (("MaxAttempts", _MOST_RETRIES), ("ExpireAfterMin", _MOST_MINUTES)):
        value = given.get(name)
        if value is not None and (type(value) is not int or not 1 <= value <= most):
            yield says((*path, name), f"must be a whole number from 1 to {most:,}")


def _cache(given: Any, path: Path) -> tuple[CacheConfig | None, list[Violation]]:
    if given is None:
        return None, []
    if not isinstance(given, dict):
        return None, [says(path, "must be a map with Enabled", f"{UNPARSED} Expecting start of Json Object.")]
    found = [
        says((*path, name), "CacheConfig has Enabled and ExpireAfter only")
        for name in given
        if name not in {"Enabled", "ExpireAfter"}
    ]
    if not isinstance(given.get("Enabled", False), bool):
        found.append(says((*path, "Enabled"), "must be true or false"))
    seconds = duration(given.get("ExpireAfter"))
    if seconds is None and given.get("ExpireAfter") is not None:
        found.append(says((*path, "ExpireAfter"), "must be an ISO 8601 duration, such as P30D or PT12H"))
    return CacheConfig(enabled=given.get("Enabled") is True, seconds=seconds), found


def _outputs(given: Any, path: Path) -> tuple[tuple[Output, ...], list[Violation]]:
    outputs: list[Output] = []
    found = []
    if given is not None and not isinstance(given, list):
        return (), [says(path, "must be a list", f"{UNPARSED} Expecting start of Json Array.")]
    for index, each in enumerate(given or ()):
        name, kind = (each.get("OutputName"), each.get("OutputType")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or kind not in PARAMETER_TYPES:
            text = f"must be a map with OutputName and an OutputType of {', '.join(PARAMETER_TYPES)}"
            found.append(says((*path, index), text))
        elif any(other.name == name for other in outputs[:MOST_OUTPUTS]):
            found.append(says((*path, index), f"another output is named '{name[:80]}'"))
        else:
            outputs.append(Output(name=name, kind=str(kind)))
    if len(outputs) > MOST_OUTPUTS:
        found.append(says(path, f"has {len(outputs):,} outputs; {MOST_OUTPUTS} are allowed"))
    return tuple(outputs), found


def _files(given: Any, path: Path) -> tuple[tuple[PropertyFile, ...], list[Violation]]:
    files, found = [], []
    if given is not None and not isinstance(given, list):
        return (), [says(path, "must be a list", f"{UNPARSED} Expecting start of Json Array.")]
    for index, each in enumerate(given or ()):
        names = [
            each.get(name) if isinstance(each, dict) else None
            for name in ("PropertyFileName", "OutputName", "FilePath")
        ]
        if not all(isinstance(name, str) and name for name in names):
            found.append(says((*path, index), "must be a map with PropertyFileName, OutputName and FilePath"))
        else:
            files.append(PropertyFile(name=str(names[0]), output=str(names[1]), file=str(names[2])))
    return tuple(files), found


_Below = tuple[tuple[Path, Any, bool | None], ...]


def _own_arguments(kind: StepType, arguments: Mapping[str, Any], path: Path) -> tuple[_Below, list[Violation]]:
    """The arguments of steps that are no request of the service."""
    if kind.name == "Condition":
        found = _unknown_arguments(arguments, path, ("Conditions", "IfSteps", "ElseSteps"))
        found += condition_violations(arguments.get("Conditions"), (*path, "Conditions"))
        branches = (("IfSteps", True), ("ElseSteps", False))
        return tuple(((*path, name), arguments.get(name) or [], branch) for name, branch in branches), found
    if kind.name == "Fail":
        found = _unknown_arguments(arguments, path, ("ErrorMessage",))
        message = arguments.get("ErrorMessage")
        if message is not None and not isinstance(message, str) and not is_expression(message):
            found.append(says((*path, "ErrorMessage"), "must be text or an expression"))
        return (), found
    if kind.name == "ForEach":
        return _for_each(arguments, path)
    return (), _cleanup(arguments, path) if kind.name == "Cleanup" else []


def _unknown_arguments(arguments: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> list[Violation]:
    return [
        says((*path, name), f"known here: {', '.join(known)}", f"{UNPARSED} Unknown Argument member '{name[:80]}'.")
        for name in arguments
        if name not in known
    ]


def _cleanup(arguments: Mapping[str, Any], path: Path) -> list[Violation]:
    found = _unknown_arguments(arguments, path, ("Resources",))
    resources = arguments.get("Resources")
    sources = resources.get("S3") if isinstance(resources, dict) else None
    if not isinstance(sources, list) or not sources:
        return [*found, says((*path, "Resources", "S3"), "must be a list with at least one map of StepName and S3Uris")]
    for index, each in enumerate(sources):
        at: Path = (*path, "Resources", "S3", index)
        if (
            not isinstance(each, dict)
            or not isinstance(each.get("StepName"), str)
            or set(each) - {"StepName", "S3Uris"}
        ):
            found.append(says(at, "must be a map with StepName, and S3Uris"))
        elif each.get("S3Uris") is not None and (not isinstance(each["S3Uris"], list) or not each["S3Uris"]):
            found.append(says((*at, "S3Uris"), "must be a list with at least one object"))
    return found


def _for_each(arguments: Mapping[str, Any], path: Path) -> tuple[_Below, list[Violation]]:
    found = _unknown_arguments(arguments, path, ("IterableItems", "MaxConcurrency", "Selector", "ForEachBody"))
    items = arguments.get("IterableItems")
    if not is_expression(items) and not isinstance(items, list):
        found.append(says((*path, "IterableItems"), "must be a list, or an expression whose value is a JSON list"))
    elif isinstance(items, list) and len(items) > MOST_ITEMS:
        found.append(says((*path, "IterableItems"), f"has {len(items):,} items; {MOST_ITEMS} are allowed"))
    most = arguments.get("MaxConcurrency")
    if type(most) is not int or not 1 <= most <= MOST_PARALLEL:
        found.append(says((*path, "MaxConcurrency"), f"must be a whole number from 1 to {MOST_PARALLEL}"))
    selector = arguments.get("Selector")
    if selector is not None and (
        not isinstance(selector, dict)
        or selector.get("Pick") not in {"MaxBy", "MinBy"}
        or not is_expression(selector.get("Field"))
    ):
        text = 'must have Pick, MaxBy or MinBy, and Field, such as {"Get": "IterationOutput.STEP.MEMBER"}'
        found.append(says((*path, "Selector"), text))
    body = arguments.get("ForEachBody")
    if not isinstance(body, list) or not body:
        found.append(says((*path, "ForEachBody"), "must be a list with at least one step"))
    return (((*path, "ForEachBody"), body or [], None),), found
