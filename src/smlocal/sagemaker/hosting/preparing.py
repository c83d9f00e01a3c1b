"""Endpoints before they run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

from smlocal.jobfile.document import recorded_document
from smlocal.jobs.kinds import Preparing, RecordedFile
from smlocal.jobs.planning.aspects.limits.show import limits_document
from smlocal.jobs.planning.model import HostPlan, JobPlan, note_documents
from smlocal.jobs.planning.plan_rows import environment_rows, note_rows
from smlocal.jobs.planning.workload import Workload
from smlocal.jobs.prepared import PreparedPlan
from smlocal.sagemaker.hosting import planning
from smlocal.sagemaker.serving.model_file import read_model


class EndpointPreparing(Preparing[JobPlan]):
    """No script: it would have to unpack the model, ping and restart."""

    NO_SCRIPT = "smlocal unpacks its model, pings its container and restarts it"
    HERE = True
    ENDLESS = True

    prepare: ClassVar[Callable[..., PreparedPlan]] = staticmethod(planning.prepare)

    def read(self, recorded: Mapping[str, Any]) -> RecordedFile:
        """The job file of a recorded job."""
        return read_model(recorded_document(recorded))

    def workload(self, job: Any) -> Workload:
        """What its containers need."""
        return planning.workload_of(job)

    def plan_document(self, plan: JobPlan) -> dict[str, Any]:
        """The plan as it is stored."""
        serving = plan.serving
        return {
            "Version": 1,
            "EndpointName": plan.name,
            "EndpointArn": plan.identity.arn,
            "Region": plan.identity.region,
            "Account": plan.identity.account,
            "Request": dict(plan.request),
            "Engine": {"Address": plan.engines.first.address, "Version": plan.engines.first.version},
            "Hosts": [_host_document(plan, host) for host in plan.hosts],
            "Serving": None
            if serving is None
            else {
                "Variants": [
                    {"Name": each.name, "Weight": each.weight, "Mode": "Direct" if each.direct else "Serial"}
                    for each in serving.variants
                ],
                "PingSeconds": serving.ping,
                "InvocationSeconds": serving.invocation,
                "StreamSeconds": serving.stream,
                "MaxBodyBytes": serving.most_body,
                "Key": serving.key,
            },
            "Stop": {"GraceSeconds": plan.stop.grace},
            "Notes": note_documents(plan),
        }

    def plan_rows(self, plan: JobPlan) -> Iterator[tuple[str, str]]:
        """Heads, and the texts beside them."""
        yield "Endpoint", plan.name
        yield "", plan.identity.arn
        for image in dict.fromkeys((host.program or plan.image).name for host in plan.hosts):
            yield "Image", image
        yield from _model_rows(plan)
        yield from _variant_rows(plan)
        yield from note_rows(plan)
        yield from environment_rows(plan)
        yield "Stops", f"SIGTERM, {plan.stop.grace} s, SIGKILL"


PREPARING: Final = EndpointPreparing()


def _model_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    servers = [host.server for host in plan.hosts if host.server is not None]
    models = dict.fromkeys((each.uri, each.target) for server in servers for each in server.models)
    head = "Model"
    for uri, target in models or {("none", ""): None}:
        yield head, f"{uri} to {target}" if target else f"{uri}: the image may have its own"
        head = ""


def _variant_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """Each variant with its instances and its share of the invocations."""
    if plan.serving is None:
        return
    total = sum(each.weight for each in plan.serving.variants)
    for variant in plan.serving.variants:
        hosts = [host for host in plan.hosts if host.server is not None and host.server.variant == variant.name]
        types = ", ".join(dict.fromkeys(host.host.instance_type for host in hosts))
        instances = len({host.server.instance for host in hosts if host.server is not None})
        part = f"{variant.weight / total:.0%} of the invocations" if total else "no invocations"
        yield "Variant", f"{variant.name}   {instances} × {types}   {part}"
    limits = plan.serving
    yield "Limits", f"ping {limits.ping:g} s, invocation {limits.invocation:g} s, {limits.most_body:,} bytes a request"


def _host_document(plan: JobPlan, host: HostPlan) -> dict[str, Any]:
    program, gpus, server = host.program or plan.image, host.accelerators.gpus, host.server
    return {
        "Name": host.host.name,
        "InstanceType": host.host.instance_type,
        "Image": {"Name": program.name, "Id": program.facts and program.facts.id},
        "Command": program.command,
        "GpuIds": None if gpus is None else "all" if gpus.every else gpus.ids,
        "Container": host.container,
        "Hostname": host.names.hostname,
        "Environment": dict(host.environment),
        "Limits": limits_document(host.limits),
        "Mounts": [
            {"Target": tree.target, "Source": tree.listing.root, "Writable": tree.writable}
            for tree in host.inputs.trees
        ],
        "Server": None
        if server is None
        else {
            "Variant": server.variant,
            "Instance": server.instance,
            "Port": server.port,
            "Models": [each.uri for each in server.models],
            "StartupSeconds": server.startup,
        },
    }
