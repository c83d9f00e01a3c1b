"""Processing jobs before they run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.base.readable import short_path
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.documents import STRICT
from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.aspects.accelerators.show import device_rows, host_kinds
from smlocal.jobs.planning.aspects.engines.show import engine_rows
from smlocal.jobs.planning.aspects.image.show import image_text
from smlocal.jobs.planning.aspects.inputs.show import pipe_text, tree_text
from smlocal.jobs.planning.aspects.limits.show import limit_rows
from smlocal.jobs.planning.aspects.network.show import network_text
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.plan_rows import environment_rows, host_names, note_rows, one_line, request_text
from smlocal.sagemaker.processing import planning
from smlocal.sagemaker.processing.job_file import ProcessingFile, read_processing
from smlocal.sagemaker.processing.workload import shown, workload_of
from smlocal.sagemaker.training import preparing as training

_OF_TRAINING: Final = frozenset(
    {"Version", "TrainingJobName", "TrainingJobArn", "Checkpoints", "Collectors", "Rules", "Output"}
)


class ProcessingPreparing(Preparing[JobPlan]):
    """A script would have to upload the outputs: there is none."""

    NO_SCRIPT = "no docker command uploads its outputs"

    prepare = staticmethod(planning.prepare)
    workload = staticmethod(workload_of)

    def read(self, recorded: Mapping[str, Any]) -> ProcessingFile:
        """The job file of a recorded job."""
        return read_processing(recorded_document(recorded), strict=bool(recorded.get(STRICT)))

    def plan_document(self, plan: JobPlan) -> dict[str, Any]:
        """Everything that `smlocal plan --json` prints."""
        document = training.PREPARING.plan_document(plan)
        return {
            "Version": 1,
            "ProcessingJobName": plan.name,
            "ProcessingJobArn": plan.identity.arn,
            **{name: value for name, value in document.items() if name not in _OF_TRAINING},
            "Outputs": list(shown(plan.mirrored.collectors)),
        }

    def plan_rows(self, plan: JobPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        yield "Job", plan.name
        yield "", plan.identity.arn
        yield "Image", image_text(plan)
        yield "Program", " ".join([*(plan.image.entrypoint or ()), *(plan.image.command or ())]) or "that of the image"
        yield from note_rows(plan)
        yield "Hosts", f"{host_names(plan)} ({', '.join(host_kinds(plan))}) {network_text(plan)}"
        yield from engine_rows(plan)
        yield from device_rows(plan)
        yield from limit_rows(plan)
        yield "Request", request_text(plan)
        first = plan.hosts[0]
        head = "Files"
        for path, content in first.files.items():
            yield head, f"{path}  {one_line(training.file_document(content).get('Content') or '…')}"
            head = ""
        head = "Inputs"
        for path, text in (
            *((tree.target, tree_text(tree)) for tree in first.inputs.trees),
            *((f"{pipe.target}_0", pipe_text(pipe)) for pipe in first.inputs.pipes),
        ):
            yield head, f"{path}  {text}"
            head = ""
        head = "Outputs"
        for each in plan.mirrored.collectors:
            when = "while the job runs" if each.continuous else "at the end"
            yield head, f"{each.local_path}  to {each.s3_prefix or short_path(each.directory)}, {when}"
            head = ""
        yield from environment_rows(plan)
        yield "Stops", f"after {plan.stop.max_runtime} s; SIGTERM, {plan.stop.grace} s, SIGKILL"


PREPARING: Final = ProcessingPreparing()
