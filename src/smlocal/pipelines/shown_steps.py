"""The steps of an execution for people and programs: states, times, jobs, what the cache said, and their values."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.readable import in_one_line, short_path
from smlocal.jobs.documents import JOB
from smlocal.jobs.store.records import StoredJob
from smlocal.pipelines.outline import spoken_value
from smlocal.sagemaker.pipelines.cache import NOT_CACHED, NOT_ENABLED
from smlocal.sagemaker.pipelines.expressions import expressions_in
from smlocal.sagemaker.pipelines.listing import listed
from smlocal.sagemaker.pipelines.reading import DEFINITION, load_definition
from smlocal.sagemaker.pipelines.stored import STATE, StoredStep, answer_command, step_document, stored_step
from smlocal.terms.masking import masked
from smlocal.terms.validation.violation import Path, dotted

STEPS: Final = "Steps"
"""The member of `Local` with the steps."""
_NESTED: Final = ("IfSteps", "ElseSteps", "ForEachBody")
_LONGEST: Final = 200
"""Characters of a value on a screen."""
_WIDEST: Final = 32
"""The column of names."""
_MOST_RESULTS: Final = 8


def steps_block(stored: StoredJob, read: Callable[[Sequence[str]], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The steps that have begun, in the order in which they did."""
    names = (stored.documents.get(STATE) or {}).get("Names", [])
    documents = read([JOB, *map(step_document, names)]) if names else {}
    written = dict(_written((documents.get(JOB) or {}).get("Data") or {}))
    now = None if stored.record.status.terminal else time.time()
    found = ((name, documents.get(step_document(name))) for name in names)
    return [_step(stored_step(name, each), written, now) for name, each in found if each is not None]


def _written(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments of each step as the definition has them."""
    inner = data.get(DEFINITION)
    if isinstance(inner, str):
        try:
            data = json.loads(inner)
        except ValueError:  # in YAML
            data = load_definition(inner, name=DEFINITION, directory="/").data
    elif isinstance(inner, dict):
        data = inner
    waiting: list[Any] = [*data.get("Steps", ())]
    while waiting:
        step = waiting.pop()
        arguments = step.get("Arguments") or {}
        yield step["Name"], {name: value for name, value in arguments.items() if name not in _NESTED}
        waiting += [each for name in _NESTED if isinstance(arguments.get(name), list) for each in arguments[name]]


def _step(step: StoredStep, written: Mapping[str, Mapping[str, Any]], now: float | None) -> dict[str, Any]:
    progress = step.progress
    row = next(iter(listed([step.listed])), {})
    name = step.listed.name
    if progress.iteration is not None:
        name = name.rpartition("-")[0]
    until = progress.ended if progress.ended is not None else now
    known = {
        "Name": step.listed.name,
        "Type": step.listed.type,
        "Status": row.get("StepStatus", progress.state.value),
        "Seconds": None if progress.began is None or until is None else round(max(0.0, until - progress.began), 3),
        "Job": step.job or None,
        "Attempts": progress.attempts if progress.attempts > 1 else None,
        "FailureReason": row.get("FailureReason"),
        "Outcome": progress.outcome,
        "Cache": None if progress.reused else step.cache,  # that of the execution whose result it is
        "ReusedFrom": progress.reused,
        "StandIn": step.note or None,
        "Folders": dict(step.folders) or None,
        "Waits": step.waits if progress.ended is None else None,
        "Values": _values(written.get(name, {}), step.arguments),
        "Arguments": step.arguments,
        "Answer": dict(step.answer) if step.answer is not None and step.listed.type in _SHORT_ANSWERS else None,
    }
    return {member: value for member, value in known.items() if value is not None and value != []}


_SHORT_ANSWERS: Final = frozenset({"Lambda", "Callback", "ForEach"})
"""Types whose answers nothing else describes."""


def _values(written: Mapping[str, Any], arguments: Any) -> list[dict[str, Any]]:
    """Each expression of the arguments, and what it was."""
    if arguments is None:
        return []
    return [
        {"Path": dotted(path), "Written": expression, "Value": value_at(arguments, path)}
        for path, expression in expressions_in(written)
    ]


def value_at(value: Any, path: Path) -> Any:
    """What a path leads to; None if there is nothing."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


# For people.


def result_rows(name: str, steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Where the results of the last steps are. Those of earlier executions are not new."""
    new = [each for each in steps if "ReusedFrom" not in each and not each.get("Cache", {}).get("Source")]
    made = [each for each in new if each["Status"] == "Succeeded"]
    found = [(step["Name"], short_path(each)) for step in made for each in step.get("Folders", {}).values()]
    packages = [(step["Name"], step["Job"]) for step in made if step["Type"] == "RegisterModel" and "Job" in step]
    found += [(each, "/".join(arn.split("/")[-2:])) for each, arn in packages]
    yield from found[-_MOST_RESULTS:]
    if len(found) > _MOST_RESULTS:
        yield "", f"and {len(found) - _MOST_RESULTS} more: smlocal describe {name}"


def step_rows(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """A row for each step, with what is to be said of it below."""
    names = min(_WIDEST, max((len(step["Name"]) for step in steps), default=0))
    for step in steps:
        seconds = f"{step['Seconds']:.1f} s" if "Seconds" in step else ""
        about = " ".join(part for part in (step.get("Job", ""), _said(step)) if part)
        head = "Steps" if step is steps[0] else ""
        yield head, f"{step['Name']:<{names}}  {step['Status']:<10}{seconds:>9}   {about}".rstrip()
        yield from (("", f"  {line}") for line in _more(step))


def _said(step: Mapping[str, Any]) -> str:
    if "Outcome" in step:
        return "true" if step["Outcome"] else "false"
    if "ReusedFrom" in step:
        return f"(result of {_id(step['ReusedFrom'])})"
    return f"(from the cache: {_id(step['Cache']['Source'])})" if step.get("Cache", {}).get("Source") else ""


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]


def _more(step: Mapping[str, Any]) -> Iterator[str]:
    if "FailureReason" in step:
        yield in_one_line(step["FailureReason"])
    if "Attempts" in step:
        yield f"attempt {step['Attempts']}"
    if "StandIn" in step:
        yield f"stand-in: {step['StandIn']}"
    yield from (f"result: {short_path(each)}" for each in step.get("Folders", {}).values())
    cache = step.get("Cache") or {}
    if cache.get("Why") and not cache["Why"].startswith((NOT_CACHED, NOT_ENABLED)):
        yield f"not from the cache: {cache['Why']}"
        for change in cache.get("Changes", ()):
            key = change["Key"]
            yield f"  {key}: {_shown(key, change['Before'])} → {_shown(key, change['After'])}"
    if "Waits" in step:
        yield "waits for an answer:"
        yield f"  {answer_command(step['Waits'])}"
        yield f"  smlocal pipeline fail {step['Waits']['Token']} --reason TEXT"


def _shown(key: str, value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    text = masked(key.rpartition(".")[2], in_one_line(text))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def value_rows(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What the expressions of each step were; the message of a step that waits."""
    shown = [step for step in steps if step.get("Values") or step.get("Waits")]
    for step in shown:
        yield "Values" if step is shown[0] else "", step["Name"]
        for each in step.get("Values", ()):
            path = each["Path"]
            yield "", f"  {path} = {in_one_line(spoken_value(each['Written']))} → {_shown(path, each['Value'])}"
        if "Waits" in step:
            yield "", f"  message: {json.dumps(step['Waits']['Message'], ensure_ascii=False)}"
