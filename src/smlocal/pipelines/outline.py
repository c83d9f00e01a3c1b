"""What a plan shows of a pipeline: parameters, the graph with images and instances, and what it costs at most."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from smlocal.pipelines.job_file import PipelineFile
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.pipelines.arguments import with_parameters
from smlocal.sagemaker.pipelines.cache import CacheAnswer
from smlocal.sagemaker.pipelines.definition import SUCCEEDED, Definition, Step
from smlocal.sagemaker.pipelines.expressions import GET, JOIN, is_expression
from smlocal.sagemaker.pipelines.for_each import items_of
from smlocal.sagemaker.pipelines.graph import own_arguments
from smlocal.sagemaker.pipelines.parameters import values_of
from smlocal.sagemaker.pipelines.selecting import needed_from_source
from smlocal.sagemaker.pipelines.step_types import MOST_ITEMS
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError

_HOUR: Final = 3600.0
_PARTS: Final = {
    "Training": ((), "AlgorithmSpecification.TrainingImage", "ResourceConfig"),
    "Processing": ((), "AppSpecification.ImageUri", "ProcessingResources.ClusterConfig"),
    "Transform": ((), "", "TransformResources"),
    "Tuning": (
        ("TrainingJobDefinition", "TrainingJobDefinitions"),
        "AlgorithmSpecification.TrainingImage",
        "ResourceConfig",
    ),
    "Model": (("", "PrimaryContainer", "Containers"), "Image", ""),
}
"""By type: the members with its parts; in a part the places of the image and of the instances."""
_WIDEST: Final = 32
"""The column of names; longer ones push the rest aside."""
_DEEPEST: Final = 8
"""Levels that are indented."""
_NOT_KNOWN: Final = "s3://result/of-an-earlier-step"
"""In place of an expression: most are locations."""
_TIMELESS: Final = ("Transform",)
"""Jobs without a limit of their time."""


def outline(file: PipelineFile, *, cached: Mapping[str, CacheAnswer] | None = None) -> dict[str, Any]:
    """For the details of a plan, as JSON. `cached`: what the cache says of steps, as far as that is known."""
    definition = file.definition
    given = {each["Name"]: each["Value"] for each in file.start.get("PipelineParameters", ())}
    values, _ = values_of(definition.parameters, given)
    chosen: Mapping[str, Any] = file.start.get("SelectiveExecutionConfig") or {}
    selected = [each["StepName"] for each in chosen["SelectedSteps"]] if chosen else None
    arguments = {name: with_parameters(own_arguments(step), values) for name, step in definition.steps.items()}
    answers = cached or {}
    steps = [_step(definition, step, arguments[step.name], answers.get(step.name)) for step in _in_order(definition)]
    if selected is not None:
        kept = needed_from_source(definition, set(selected))
        for shown in steps:
            if shown["Name"] not in selected:
                shown["Selected"] = False
                if shown["Name"] in kept:
                    shown["ResultFrom"] = chosen.get("SourcePipelineExecutionArn")
    counted = _Cost(definition, arguments, values, selected)
    return {
        "PipelineName": file.pipeline,
        "Parameters": values,
        "Steps": steps,
        "InstanceHoursAtMost": counted.hours(),
        "NotCounted": counted.not_counted,
    }


def jobs_of_steps(file: PipelineFile) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each training and processing step whose image is known: its name, image and request.

    What is not known before it runs has a value that stands for it.
    """
    values = {name: each.default for name, each in file.definition.parameters.items() if each.default is not None}
    for step in _in_order(file.definition):
        if step.type.name not in {"Training", "Processing"} or step.name in file.definition.stand_ins:
            continue
        request = with_parameters(own_arguments(step), values)
        image = _at(request, _PARTS[step.type.name][1])
        if isinstance(image, str):
            yield step.name, image, _without_expressions(request)


def _without_expressions(value: Any) -> Any:
    if is_expression(value):
        return _NOT_KNOWN
    if isinstance(value, dict):
        return {name: _without_expressions(each) for name, each in value.items()}
    return [_without_expressions(each) for each in value] if isinstance(value, list) else value


def _in_order(definition: Definition) -> Iterator[Step]:
    """Each step before those in it, and these before the next."""
    below: dict[str | None, list[Step]] = {}
    for step in definition.steps.values():
        below.setdefault(step.parent, []).append(step)
    waiting = below.get(None, [])[::-1]
    while waiting:
        step = waiting.pop()
        yield step
        inner = below.get(step.name, [])
        waiting += [each for which in (False, True, None) for each in inner[::-1] if each.branch is which]


def _step(
    definition: Definition, step: Step, arguments: Mapping[str, Any], answer: CacheAnswer | None
) -> dict[str, Any]:
    parts = _parts(step, arguments)
    stand_in = definition.stand_ins.get(step.name)
    known = {
        "Name": step.name,
        "Type": step.type.name,
        "Within": step.parent,
        "Branch": None if step.branch is None else "If" if step.branch else "Else",
        "After": [each.step if each.trigger == SUCCEEDED else f"{each.step} ({each.trigger})" for each in step.after],
        "Images": list(dict.fromkeys(image for part in parts if (image := _image(step, part)))),
        "Instances": [
            {
                "InstanceType": spoken_value(kind),
                "InstanceCount": count if isinstance(count, int) else spoken_value(count),
            }
            for part in parts
            for kind, count in _instances(step, part)
        ],
        "StandIn": None if stand_in is None else stand_in.spoken,
        "Cache": None if answer is None else {"Source": answer.source} if answer.source else {"Why": answer.why},
    }
    return {name: value for name, value in known.items() if value}


def _parts(step: Step, arguments: Mapping[str, Any]) -> list[Any]:
    """The parts with images and instances: a tuning job has several."""
    members = _PARTS.get(step.type.name, ((), "", ""))[0]
    if not members:
        return [arguments] if step.type.name in _PARTS else []
    found = [arguments if not name else arguments.get(name) for name in members]
    return [part for each in found for part in (each if isinstance(each, list) else [each]) if isinstance(part, dict)]


def _at(value: Any, place: str) -> Any:
    for name in place.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _image(step: Step, part: Any) -> str:
    found = _at(part, _PARTS[step.type.name][1])
    return "" if found is None else spoken_value(found)


def _instances(step: Step, part: Any) -> Iterator[tuple[Any, Any]]:
    """Types and numbers, as far as they are known."""
    resources = _at(part, _PARTS[step.type.name][2])
    groups = resources.get("InstanceGroups") if isinstance(resources, dict) else None
    for each in groups if isinstance(groups, list) else [resources]:
        if isinstance(each, dict) and each.get("InstanceType") is not None:
            yield each["InstanceType"], each.get("InstanceCount", 1)


def spoken_value(value: Any) -> str:
    """A value for people; an expression as the names that it is made of."""
    if not is_expression(value):
        return value if isinstance(value, str) else str(value)
    form, given = next(iter(value.items()))
    if form == GET:
        return str(given)
    if form == JOIN and isinstance(given, dict) and isinstance(given.get("Values"), list):
        return str(given.get("On", "")).join(map(spoken_value, given["Values"]))
    return f"{spoken_value(given.get('PropertyFile') or given.get('S3Uri'))}: {given.get('Path')}" if given else form


# What it costs at most.


class _Cost:
    """Counts hours: each job as long as it may, of a Condition the dearer branch, of a ForEach every item."""

    def __init__(
        self,
        definition: Definition,
        arguments: Mapping[str, Mapping[str, Any]],
        values: Mapping[str, Any],
        selected: Iterable[str] | None,
    ) -> None:
        self.definition = definition
        self.values = values
        self.arguments = arguments
        self.selected = None if selected is None else set(selected)
        self.not_counted: dict[str, str] = {}
        """Names of steps, and why their time is not known."""
        self.below: dict[str | None, list[Step]] = {}
        for step in definition.steps.values():
            self.below.setdefault(step.parent, []).append(step)

    def hours(self) -> dict[str, float]:
        """By instance type."""
        found: dict[str, dict[str, float]] = {}
        for step in reversed([*self.definition.steps.values()]):  # those in a step come after it
            found[step.name] = self._of(step, found)
        total = _sum(found[step.name] for step in self.below.get(None, ()))
        return {kind: round(hours, 2) for kind, hours in total.items()}

    def _of(self, step: Step, found: Mapping[str, dict[str, float]]) -> dict[str, float]:
        inner = self.below.get(step.name, ())
        if step.type.name == "Condition":
            branches = [_sum(found[each.name] for each in inner if each.branch is which) for which in (True, False)]
            kinds = dict.fromkeys(kind for each in branches for kind in each)
            return {kind: max(each.get(kind, 0.0) for each in branches) for kind in kinds}
        if step.type.name == "ForEach":
            number = _number_of_items(step, self.values)
            return {kind: number * hours for kind, hours in _sum(found[each.name] for each in inner).items()}
        if self.selected is not None and step.name not in self.selected:
            return {}
        return _sum(self._of_jobs(step)) if step.type.name in _PARTS and step.type.name != "Model" else {}

    def _of_jobs(self, step: Step) -> Iterator[dict[str, float]]:
        if step.type.name in _TIMELESS:
            self.not_counted[step.name] = "a transform job has no limit of its time"
            return
        arguments = self.arguments[step.name]
        parts = _parts(step, arguments)
        for index, part in enumerate(parts):
            seconds = _at(part, "StoppingCondition.MaxRuntimeInSeconds")
            seconds = DEFAULT_MAX_RUNTIME if seconds is None else seconds
            jobs: Any = 1
            if step.type.name == "Tuning":
                most = _at(arguments, "HyperParameterTuningJobConfig.ResourceLimits.MaxNumberOfTrainingJobs")
                jobs = most // len(parts) + (index < most % len(parts)) if isinstance(most, int) else most
            for kind, count in _instances(step, part):
                numbers = (jobs, count, seconds)
                if not isinstance(kind, str) or not all(isinstance(each, int) for each in numbers):
                    self.not_counted[step.name] = "its instances or its time are not known before it runs"
                else:
                    yield {kind: jobs * count * seconds / _HOUR}


def _number_of_items(step: Step, values: Mapping[str, Any]) -> int:
    try:
        return len(items_of(step, Known(parameters=values)))
    except ValueUnknownError:
        return MOST_ITEMS


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in parts:
        for kind, hours in each.items():
            found[kind] = found.get(kind, 0.0) + hours
    return found


# For people.


def outline_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    names = {step["Name"]: step for step in found["Steps"]}
    deep: dict[str, int] = {}
    labels = 0
    shown: list[tuple[str, str]] = []
    before: tuple[Any, Any] = (None, None)
    for name, step in names.items():
        parent = step.get("Within")
        deep[name] = 0 if parent is None else deep[parent] + 1
        branch = (parent, step.get("Branch"))
        label = {"If": "if ", "Else": "else "}.get(step.get("Branch", ""), "") if branch != before else ""
        before = branch
        indent = "  " * min(deep[name], _DEEPEST)
        shown.append((f"{indent}{label}{name}", _about(step)))
        labels = max(labels, len(shown[-1][0]))
    head = "Steps"
    for title, about in shown:
        yield head, f"{title:<{min(labels, _WIDEST)}}  {about}"
        head = ""
    hours = [f"{each:,g} h of {kind}" for kind, each in found["InstanceHoursAtMost"].items()]
    without = found["NotCounted"]
    if hours or without:
        reasons: dict[str, list[str]] = {}
        for name, why in without.items():
            reasons.setdefault(why, []).append(name)
        more = [f"without {', '.join(each)}: {why}" for why, each in reasons.items()]
        yield "At most", "; ".join([", ".join(hours), *more] if hours else more)


def _about(step: Mapping[str, Any]) -> str:
    cache = step.get("Cache") or {}
    parts = [
        step["Type"],
        f"after {', '.join(step['After'])}" if step.get("After") else "",
        *step.get("Images", ()),
        *(f"{each['InstanceCount']} × {each['InstanceType']}" for each in step.get("Instances", ())),
        step.get("StandIn", ""),
        f"cached: result of {cache['Source'].rpartition('/')[2]}"
        if cache.get("Source")
        else f"not cached: {cache['Why']}"
        if cache.get("Why")
        else "",
        "" if step.get("Selected", True) else "not selected" if "ResultFrom" not in step else "result of the source",
    ]
    return " · ".join(part for part in parts if part)
