"""Pipelines before they run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.model import RecordedPlan, note_documents
from smlocal.jobs.planning.plan_rows import note_rows
from smlocal.pipelines import planning
from smlocal.pipelines.job_file import PipelineFile, recorded_file


class PipelinePreparing(Preparing[RecordedPlan]):
    """No script: what its later steps get depends on earlier ones."""

    NO_SCRIPT = "its later steps get values of earlier ones"

    prepare = staticmethod(planning.prepare)

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
            "Notes": note_documents(plan),
        }

    def plan_rows(self, plan: RecordedPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        yield "Pipeline", plan.request["PipelineName"]
        yield "", plan.identity.arn
        yield from note_rows(plan)


PREPARING: Final = PipelinePreparing()
