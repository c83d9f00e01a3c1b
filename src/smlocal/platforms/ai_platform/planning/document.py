"""The plan as the JSON document of `smlocal plan --json`."""

from typing import Any

from smlocal.planning.model import HostPlan, JobPlan
from smlocal.planning.note_documents import note_documents


def plan_document(plan: JobPlan) -> dict[str, Any]:
    """Everything that `smlocal plan --json` prints."""
    return {
        "Version": 1,
        "Platform": plan.platform,
        "Name": plan.name,
        "Resource": plan.arn,
        "Region": plan.region,
        "Request": dict(plan.request),
        "Engine": {"Address": plan.engine.address, "Version": plan.engine.version, "Product": plan.engine.product},
        "Network": None
        if plan.network is None
        else {"Name": plan.network.name, "Subnet": plan.network.subnet, "Addresses": dict(plan.network.addresses)},
        "Hosts": [_host(host) for host in plan.hosts],
        "Output": {"Directory": plan.output.directory},
        "Stop": {"MaxRunningSeconds": plan.stop.max_runtime, "GraceSeconds": plan.stop.grace},
        "Notes": note_documents(plan),
    }


def _host(host: HostPlan) -> dict[str, Any]:
    program = host.program
    return {
        "Name": host.host.name,
        "MachineType": host.host.instance_type,
        "Accelerators": host.host.gpus,
        "GpuIds": None if host.devices is None else "all" if host.devices.every else host.devices.ids,
        "Image": program and program.image,
        "Entrypoint": program and program.entrypoint,
        "Command": program and program.command,
        "Container": host.container,
        "Hostname": host.hostname,
        "Environment": dict(host.environment),
        "Mounts": [{"Target": tree.target, "Source": tree.listing.root, "Uri": tree.uri} for tree in host.channels],
        "Limits": {"Memory": host.limits.memory, "Cpus": host.limits.cpus},
    }
