"""Where an endpoint differs from the service."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.jobs.planning.aspects.network.show import added_hosts_text, joined_text
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.sagemaker.contract.instance_types import is_this_machine
from smlocal.sagemaker.hosting.hosts import instance_count
from smlocal.sagemaker.hosting.members import recorded_members

if TYPE_CHECKING:
    from smlocal.sagemaker.hosting.model_file import ModelFile


def notes(plan: JobPlan, model: "ModelFile") -> tuple[Note, ...]:
    """All that apply to this one."""
    return tuple(Note(id=name, text=text) for name, text in _notes(plan, model))


def _notes(plan: JobPlan, model: "ModelFile") -> Iterator[tuple[str, str]]:
    if not model.role:
        yield "relaxed-role", "ExecutionRoleArn is missing; the service requires it"
    if any(is_this_machine(host.host.instance_type) for host in plan.hosts):
        yield (
            "relaxed-instance",
            "the instance type local means this machine; the service requires a real instance type",
        )
    uris = [each.uri for host in plan.hosts if host.server is not None for each in host.server.models]
    relaxed = [uri for uri in dict.fromkeys(uris) if not uri.startswith("s3://")]
    if relaxed:
        yield "relaxed-uri", f"a local path is used where the service requires an s3:// URI ({', '.join(relaxed)})"
    fewer = [
        f"{run} of {variant.definition.InitialInstanceCount} of {variant.name}"
        for variant in model.variants
        if (run := instance_count(model, variant)) < (variant.definition.InitialInstanceCount or 1)
    ]
    if fewer:
        yield "fewer-instances", f"fewer instances than asked for: {', '.join(fewer)} (Local.Serving.MaxInstances)"
    roles = {each.ExecutionRoleArn for each in model.models if each.ExecutionRoleArn}
    if len(roles) > 1:
        yield "one-role", f"all containers have the role of the first model, {model.role}"
    said = {"networks-joined": joined_text(plan), "hosts-added": added_hosts_text(model.local)}
    yield from ((name, text) for name, text in said.items() if text is not None)
    named = {"EndpointConfigName", "ExecutionRoleArn"}
    recorded = sorted(recorded_members(model.raw) - named)
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"
