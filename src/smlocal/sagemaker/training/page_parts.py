"""The parts of a training job's page."""

from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.base.formatting import duration
from smlocal.jobs.page_parts import PageParts
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import JobView


def page_parts(store: Store, view: JobView) -> PageParts:  # noqa: ARG001 - the answer has it all
    """From the answer of describe."""
    answer = view.answer
    return PageParts(
        parent=(answer.get("TuningJobArn") or "").rpartition("/")[2],
        instances=_instances(answer.get("ResourceConfig") or {}),
        details=tuple(_details(answer)),
    )


def _instances(resources: Mapping[str, Any]) -> str:
    kind = resources.get("SelectedInstanceType") or resources.get("InstanceType")
    count = resources.get("SelectedInstanceCount") or resources.get("InstanceCount", 1)
    return f"{count} × {kind}" if kind else ""


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "TrainingTimeInSeconds" in answer:
        yield "Training time", duration(answer["TrainingTimeInSeconds"])
        if answer["BillableTimeInSeconds"] != answer["TrainingTimeInSeconds"]:
            yield "Billable time", duration(answer["BillableTimeInSeconds"])
    if image := (answer.get("AlgorithmSpecification") or {}).get("TrainingImage"):
        yield "Image", image
    yield "ARN", answer["TrainingJobArn"]
