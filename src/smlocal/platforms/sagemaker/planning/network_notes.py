"""Notes on the number of hosts, the network and Local.Endpoints."""

from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.contract.instance_types import instance_type
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule


def _many_hosts(plan: JobPlan, job: JobFile) -> str | None:
    count, most = len(plan.hosts), job.local.MaxHosts
    if count <= most:
        return None
    sizes = [instance_type(host.host.instance_type) for host in plan.hosts]
    memory, cpus = sum(size.memory_mib for size in sizes) // 1024, sum(size.vcpus for size in sizes)
    machine = plan.machine
    return (
        f"{count} hosts exceed Local.MaxHosts ({most}), so a run is refused: they would be {count} containers "
        f"at once, with {cpus} vCPU and {memory} GiB in all on the service; this machine has {machine.cpus} CPUs and "
        f"{machine.memory_mib // 1024} GiB, {machine.memory_mib // count} MiB for each"
    )


def _isolation(plan: JobPlan, job: JobFile) -> str | None:
    if plan.network is None or not plan.network.isolated:
        return None
    who = "containers can reach only each other" if len(plan.hosts) > 1 else "the container can reach only itself"
    return f"{who} (EnableNetworkIsolation); smlocal delivers the data"


def _isolated_code(plan: JobPlan, job: JobFile) -> str | None:
    given = (job.request.HyperParameters or {}).get("sagemaker_submit_directory", "").strip('"')
    if not job.request.EnableNetworkIsolation or not given.startswith("s3://") or plan.code is not None:
        return None
    return f"the toolkit cannot download its code from {given}: with EnableNetworkIsolation, use a channel for it"


def _endpoints(plan: JobPlan, job: JobFile) -> str | None:
    if not job.local.Endpoints or (plan.network is not None and plan.network.isolated):
        return None
    from smlocal.contract.endpoints import variable

    names = [variable(service) for service in job.local.Endpoints]
    own = job.request.Environment or {}
    set_here = [name for name in names if name not in own]
    overruled = [name for name in names if name in own]
    said = [f"{', '.join(set_here)} set by Local.Endpoints; the service sets no such variable"] if set_here else []
    said += [f"{', '.join(overruled)} set by the request's Environment"] if overruled else []
    return "; ".join(said)


def _endpoints_on_loopback(plan: JobPlan, job: JobFile) -> str | None:
    services = [service for service in job.local.Endpoints if service in plan.unreachable]
    if not services:
        return None
    urls = ", ".join(job.local.Endpoints[service] for service in services)
    return f"the server of {urls} listens only on 127.0.0.1, which containers cannot reach: bind it to 0.0.0.0"


def _endpoints_unused(plan: JobPlan, job: JobFile) -> str | None:
    if not job.local.Endpoints or plan.network is None or not plan.network.isolated:
        return None
    return f"Local.Endpoints ({', '.join(job.local.Endpoints)}) is not passed in: EnableNetworkIsolation blocks it"


NETWORK_RULES = (
    NoteRule(id="max-hosts", says=_many_hosts, warning=True),
    NoteRule(id="isolated-code", says=_isolated_code, warning=True),
    NoteRule(id="endpoint-loopback", says=_endpoints_on_loopback, warning=True),
    NoteRule(id="isolation", says=_isolation),
    NoteRule(id="endpoints", says=_endpoints),
    NoteRule(id="endpoints-unused", says=_endpoints_unused),
)
