"""Pipelines before they run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.errors import UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.model import RecordedPlan, note_documents
from smlocal.jobs.planning.plan_rows import note_rows
from smlocal.pipelines import planning
from smlocal.pipelines.job_file import PipelineFile, file_of, recorded_file, settings_of_jobs
from smlocal.pipelines.outline import jobs_of_steps, outline_rows
from smlocal.sagemaker.pipelines.stored import OUTLINE
from smlocal.sagemaker.pipelines.values import printed
from smlocal.terms.masking import masked


class PipelinePreparing(Preparing[RecordedPlan]):
    """No script: what its later steps get depends on earlier ones."""

    NO_SCRIPT = "its later steps get values of earlier ones"

    prepare = staticmethod(planning.prepare)

    def checked(self, document: Document, say: Callable[[str], None]) -> Document:
        """The job of its first training or processing step."""
        file = file_of(document, start={})
        jobs = list(jobs_of_steps(file))
        if not jobs:
            raise UsageRefusedError(
                f"{document.name} has no training or processing step whose image is known before it runs",
                remedy=["Check an image by its name: smlocal check IMAGE"],
            )
        name, image, request = next((each for each in jobs if "AlgorithmSpecification" in each[2]), jobs[0])
        others = dict.fromkeys(other for _, other, _ in jobs if other != image)
        more = f"; others are checked by their names: {', '.join(others)}" if others else ""
        say(f"the image of {document.name} is checked for its step {name}{more}")
        return Document(
            {**request, LOCAL: settings_of_jobs(document.data.get(LOCAL) or {})},
            name=document.name,
            directory=document.directory,
        )

    def read(self, recorded: Mapping[str, Any]) -> PipelineFile:
        """The pipeline of a recorded execution."""
        return recorded_file(recorded)

    def plan_document(self, plan: RecordedPlan) -> dict[str, Any]:
        """The plan as it is stored."""
        return {
            "Version": 1,
            "PipelineExecutionArn": plan.identity.arn,
            "Region": plan.identity.region,
            "Account": plan.identity.account,
            "Request": dict(plan.request),
            **plan.details[OUTLINE],
            "Notes": note_documents(plan),
        }

    def plan_rows(self, plan: RecordedPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        found = plan.details[OUTLINE]
        yield "Pipeline", found["PipelineName"]
        yield "", plan.identity.arn
        head = "Parameters"
        for name, value in found["Parameters"].items():
            yield head, f"{name}={masked(name, printed(value))}"
            head = ""
        yield from outline_rows(found)
        yield from note_rows(plan)


PREPARING: Final = PipelinePreparing()
