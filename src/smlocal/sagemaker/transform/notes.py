"""Where a transform job differs from the service."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.jobs.planning.aspects.network.show import added_hosts_text, joined_text
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.sagemaker.contract.instance_types import is_this_machine
from smlocal.sagemaker.transform.members import MEMBERS

if TYPE_CHECKING:
    from smlocal.sagemaker.transform.transform_file import TransformFile


def notes(plan: JobPlan, asked: "TransformFile") -> tuple[Note, ...]:
    """All that apply to this one."""
    return tuple(Note(id=name, text=text) for name, text in _notes(plan, asked))


def _notes(plan: JobPlan, asked: "TransformFile") -> Iterator[tuple[str, str]]:
    if not asked.model.role:
        yield "relaxed-role", "ExecutionRoleArn is missing; the service requires it of the model"
    if is_this_machine(plan.hosts[0].host.instance_type):
        yield (
            "relaxed-instance",
            "the instance type local means this machine; the service requires a real instance type",
        )
    for uri in (asked.request.TransformInput.DataSource.S3DataSource.S3Uri, plan.output.uri):
        if not uri.startswith(("s3://", "https://")):
            yield "relaxed-uri", f"a local path is used where the service requires an s3:// URI ({uri})"
    if plan.output.uri.startswith(("s3://", "https://")):
        yield "output-local", f"nothing is written to {plan.output.uri}; the output goes to {plan.output.directory}"
    said = {"networks-joined": joined_text(plan), "hosts-added": added_hosts_text(asked.local)}
    yield from ((name, text) for name, text in said.items() if text is not None)
    resources = asked.request.TransformResources
    if resources is not None and resources.InstanceCount > 1:
        yield "one-container", f"one container transforms what {resources.InstanceCount} instances would share"
    named = {"ExecutionRoleArn", "Tags", "TransformResources"}
    recorded = sorted({name for name in MEMBERS.recorded(asked.raw) if name.partition(".")[0] not in named})
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"
