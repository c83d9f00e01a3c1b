"""Selective execution: which steps need results of an earlier execution, and what is refused."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from smlocal.sagemaker.pipelines.deciding import Progress, State
from smlocal.sagemaker.pipelines.definition import Definition


def needed_from_source(definition: Definition, selected: Collection[str]) -> list[str]:
    """The steps that are not selected and that selected ones wait for, in the order of the definition."""
    needed: set[str] = set()
    for name in selected:
        step = definition.steps[name]
        needed.update(after.step for after in step.after if after.step not in selected)
        needed.update(each.name for each in definition.enclosing(step) if each.name not in selected)
    return [name for name in definition.steps if name in needed]


def selection_trouble(
    definition: Definition, selected: Sequence[str], *, source_arn: str | None, source: Mapping[str, Progress]
) -> str | None:
    """Why these steps cannot be run alone; None if they can."""
    unknown = [name for name in selected if name not in definition.steps]
    if unknown:
        return f"The selected steps [{', '.join(unknown)}] are not in the pipeline."
    needed = needed_from_source(definition, set(selected))
    absent = [name for name in needed if name not in source or source[name].state is not State.SUCCEEDED]
    if needed and (source_arn is None or absent):
        named = source_arn if source_arn is not None else "null"
        return (
            f"Invalid SourcePipelineExecutionArn: {named}. The selected steps [{', '.join(selected)}] "
            f"have dependencies on [{', '.join(absent or needed)}]"
        )
    between = [name for name in needed if _waits_for_any(definition, name, set(selected))]
    if between:
        names = ", ".join(between)
        return f"The steps [{names}] are between selected steps [{', '.join(selected)}], and must be selected too."
    return None


def _waits_for_any(definition: Definition, name: str, others: set[str]) -> bool:
    """True if a step waits for one of the others, also through further steps."""
    waiting, seen = [name], {name}
    while waiting:
        step = definition.steps[waiting.pop()]
        before = {*(after.step for after in step.after), *([step.parent] if step.parent else [])}
        if before & others:
            return True
        waiting += before - seen
        seen |= before
    return False


def kept_from(
    definition: Definition, selected: Collection[str], source: Mapping[str, Progress], source_arn: str
) -> dict[str, Progress]:
    """The results that a selective execution uses."""
    names = needed_from_source(definition, selected)
    return {name: replace(source[name], reused=source_arn, attempts=0) for name in names}
