"""Transform jobs before they run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobs.planning.model import JobPlan, note_documents
from smlocal.jobs.planning.plan_rows import environment_rows, note_rows
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.hosting.planning import workload_of
from smlocal.sagemaker.hosting.preparing import EndpointPreparing
from smlocal.sagemaker.transform import planning
from smlocal.sagemaker.transform.transform_file import READING, TransformFile, read_transform


class TransformPreparing(EndpointPreparing):
    """No script: it would have to unpack the model, ping, split, send and assemble."""

    NO_SCRIPT = "smlocal sends its records while the container runs"
    ENDLESS = False

    prepare = staticmethod(planning.prepare)

    def checked(self, document: Document, say: Callable[[str], None]) -> Document:
        """An endpoint with its model."""
        READING.complete(document, strict=False)
        model = read_transform(document).model.document
        say(f"the model of {document.name} is checked as that of an endpoint")
        return model

    def read(self, recorded: Mapping[str, Any]) -> TransformFile:
        """The job file of a recorded job."""
        return read_transform(recorded_document(recorded))

    def workload(self, job: TransformFile) -> Workload:
        """What its container needs."""
        return workload_of(job.model)

    def plan_document(self, plan: JobPlan) -> dict[str, Any]:
        """The plan as it is stored."""
        document = super().plan_document(plan)
        for name in ("EndpointName", "EndpointArn", "Notes"):
            document.pop(name, None)
        return {
            "Version": document.pop("Version"),
            "TransformJobName": plan.name,
            "TransformJobArn": plan.identity.arn,
            **document,
            "Output": {"Uri": plan.output.uri, "Directory": plan.output.directory},
            "Notes": note_documents(plan),
        }

    def plan_rows(self, plan: JobPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        source, request = plan.request["TransformInput"], plan.request
        yield "Transform", plan.name
        yield "", plan.identity.arn
        yield "Image", plan.image.name
        server = plan.hosts[0].server
        yield "Model", ", ".join(each.uri for each in server.models) if server is not None and server.models else "none"
        kind = "lines" if source.get("SplitType") == "Line" else source.get("SplitType") or "whole objects"
        yield "Input", f"{source['DataSource']['S3DataSource']['S3Uri']}   {kind}"
        yield "Output", plan.output.directory
        asked = {name: request.get(name) for name in ("BatchStrategy", "MaxPayloadInMB", "MaxConcurrentTransforms")}
        given = [f"{name} {value}" for name, value in asked.items() if value is not None]
        yield "Requests", ", ".join(given) or "as the container says at /execution-parameters, else one at once of 6 MB"
        yield from note_rows(plan)
        yield from environment_rows(plan)
        yield "Stops", f"SIGTERM, {plan.stop.grace} s, SIGKILL"


PREPARING: Final = TransformPreparing()
