"""Where an endpoint differs from the service."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.jobs.planning.aspects.network.show import added_hosts_text, joined_text
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.sagemaker.contract.instance_types import is_this_machine
from smlocal.sagemaker.hosting.members import MEMBERS

if TYPE_CHECKING:
    from smlocal.sagemaker.hosting.model_file import ModelFile


def notes(plan: JobPlan, model: "ModelFile") -> tuple[Note, ...]:
    """All that apply to this one."""
    return tuple(Note(id=name, text=text) for name, text in _notes(plan, model))


def _notes(plan: JobPlan, model: "ModelFile") -> Iterator[tuple[str, str]]:
    if not model.role:
        yield "relaxed-role", "ExecutionRoleArn is missing; the service requires it"
    if is_this_machine(plan.hosts[0].host.instance_type):
        yield (
            "relaxed-instance",
            "the instance type local means this machine; the service requires a real instance type",
        )
    serving = plan.serving
    if serving is not None and serving.uri and not serving.uri.startswith("s3://"):
        yield "relaxed-uri", f"a local path is used where the service requires an s3:// URI ({serving.uri})"
    said = {"networks-joined": joined_text(plan), "hosts-added": added_hosts_text(model.local)}
    yield from ((name, text) for name, text in said.items() if text is not None)
    named = ("ModelName", "EndpointConfigName", "ExecutionRoleArn")
    recorded = sorted(name for name in MEMBERS.recorded(model.raw) if name in model.raw and name not in named)
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"
