"""Endpoints before they run: `jobs.kinds.Preparing`."""

from collections.abc import Iterator
from typing import Any

from smlocal.jobs.planning.aspects.limits.show import limits_document
from smlocal.jobs.planning.model import JobPlan, note_documents
from smlocal.jobs.planning.plan_rows import environment_rows, note_rows
from smlocal.sagemaker.hosting.planning import plan_again, prepare_recorded

__all__ = ["plan_again", "plan_document", "plan_rows", "prepare_recorded", "script"]


def plan_document(plan: JobPlan) -> dict[str, Any]:
    """The plan as it is stored."""
    (host,), serving = plan.hosts, plan.serving
    return {
        "Version": 1,
        "EndpointName": plan.name,
        "EndpointArn": plan.identity.arn,
        "Region": plan.identity.region,
        "Account": plan.identity.account,
        "Request": dict(plan.request),
        "Image": {"Name": plan.image.name, "Id": plan.image.facts and plan.image.facts.id},
        "Engine": {"Address": plan.engines.first.address, "Version": plan.engines.first.version},
        "Command": plan.image.command,
        "Hosts": [
            {
                "Name": host.host.name,
                "InstanceType": host.host.instance_type,
                "GpuIds": None
                if host.accelerators.gpus is None
                else "all"
                if host.accelerators.gpus.every
                else host.accelerators.gpus.ids,
                "Container": host.container,
                "Hostname": host.names.hostname,
                "Environment": dict(host.environment),
                "Limits": limits_document(host.limits),
                "Mounts": [
                    {"Target": tree.target, "Source": tree.listing.root, "Writable": tree.writable}
                    for tree in host.inputs.trees
                ],
            }
        ],
        "Serving": None
        if serving is None
        else {
            "Port": serving.port,
            "Model": serving.uri,
            "StartupSeconds": serving.startup,
            "PingSeconds": serving.ping,
            "InvocationSeconds": serving.invocation,
            "MaxBodyBytes": serving.most_body,
        },
        "Stop": {"GraceSeconds": plan.stop.grace},
        "Notes": note_documents(plan),
    }


def plan_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    yield "Endpoint", plan.name
    yield "", plan.identity.arn
    yield "Image", plan.image.name
    yield from note_rows(plan)
    yield from environment_rows(plan)
    yield "Stops", f"SIGTERM, {plan.stop.grace} s, SIGKILL"


def script(plan: JobPlan) -> None:
    """A script would have to unpack the model, ping and restart."""
