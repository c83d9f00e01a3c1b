"""Tuning jobs before they run."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.model import RecordedPlan, note_documents
from smlocal.jobs.planning.plan_rows import note_rows
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.tuning import planning
from smlocal.sagemaker.tuning.planning import first_trials
from smlocal.sagemaker.tuning.search import size_of
from smlocal.sagemaker.tuning.tuning_file import Definition, TuningFile, read_tuning

_SHOWN: Final = 5
"""The first points."""
_HOUR: Final = 3600.0


class TuningPreparing(Preparing[RecordedPlan]):
    """No script: it would have to read metrics and choose points."""

    NO_SCRIPT = "its later training jobs depend on earlier ones"

    prepare = staticmethod(planning.prepare)

    def checked(self, document: Document, say: Callable[[str], None]) -> Document:
        """Its first training job."""
        file = read_tuning(document)
        trained = planning.first_training_job(file)
        images = len(dict.fromkeys(_images(file)))
        others = f"; its {images - 1} other images are checked by their names" if images > 1 else ""
        say(f"the image of {document.name} is checked for its first training job{others}")
        return trained.document

    def read(self, recorded: Mapping[str, Any]) -> TuningFile:
        """The job file of a recorded job."""
        return read_tuning(recorded_document(recorded))

    def plan_document(self, plan: RecordedPlan) -> dict[str, Any]:
        """The plan as it is stored."""
        file = _file(plan)
        search = file.plan(plan.name)
        return {
            "Version": 1,
            "HyperParameterTuningJobName": plan.name,
            "HyperParameterTuningJobArn": plan.identity.arn,
            "Region": plan.identity.region,
            "Account": plan.identity.account,
            "Request": dict(plan.request),
            "Image": plan.details["Image"],
            "Engine": plan.details["Engine"],
            "Search": {
                "Strategy": search.strategy,
                "Seed": search.seed,
                "Combinations": size_of(search),
                "TrainingJobs": search.most,
                "Parallel": search.parallel,
                "InstanceHoursAtMost": instance_hours(file.definitions, search.most),
                "FirstPoints": [
                    {**({} if definition is None else {"DefinitionName": definition}), "HyperParameters": point}
                    for definition, point in first_trials(file, plan.name, _SHOWN)
                ],
            },
            "Output": plan.details["Output"],
            "Notes": note_documents(plan),
        }

    def plan_rows(self, plan: RecordedPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        file = _file(plan)
        search = file.plan(plan.name)
        objectives = [f"{each.objective.direction} {each.objective.metric}" for each in search.definitions]
        size = size_of(search)
        yield "Tuning job", plan.name
        yield "", plan.identity.arn
        yield "Image", ", ".join(dict.fromkeys(_images(file)))
        yield "Strategy", search.strategy
        yield "Objective", ", ".join(dict.fromkeys(objectives))
        yield "Jobs", f"{search.most:,}, {min(search.parallel, search.most):,} at once"
        yield "Points", "any number" if size is None else f"{size:,}"
        hours = ", ".join(
            f"{hours:,g} h of {kind}" for kind, hours in instance_hours(file.definitions, search.most).items()
        )
        yield "At most", hours
        head = "First points"
        for definition, point in first_trials(file, plan.name, _SHOWN):
            shown = " ".join(f"{name}={value}" for name, value in point.items())
            yield head, shown if definition is None else f"{definition}: {shown}"
            head = ""
        yield "Output", f"{os.path.dirname(plan.details['Output'])}/<training job>"
        yield from note_rows(plan)


PREPARING: Final = TuningPreparing()


def _file(plan: RecordedPlan) -> TuningFile:
    return read_tuning(Document(dict(plan.request), name=plan.name, directory=plan.job_directory))


def instance_hours(definitions: Sequence[Definition], jobs: int) -> dict[str, float]:
    """What it would cost at most, by instance type: each training job as long as it may."""
    found: dict[str, float] = {}
    count = len(definitions)
    for index, each in enumerate(definitions):
        resources = each.request.get("ResourceConfig") or {}
        seconds = (each.request.get("StoppingCondition") or {}).get("MaxRuntimeInSeconds", DEFAULT_MAX_RUNTIME)
        share = jobs // count + (index < jobs % count)
        groups = resources.get("InstanceGroups") or [resources]
        for group in groups:
            kind = group.get("InstanceType", "")
            hours = share * group.get("InstanceCount", 1) * seconds / _HOUR
            found[kind] = round(found.get(kind, 0.0) + hours, 2)
    return found


def _images(file: TuningFile) -> Iterator[str]:
    for each in file.definitions:
        yield each.request["AlgorithmSpecification"].get("TrainingImage", "")
