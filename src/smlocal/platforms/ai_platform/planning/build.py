"""Makes the plan from the request and the facts. Pure: nothing here looks at the machine."""

from dataclasses import replace
from typing import Final

from smlocal.contract.gpus import VISIBLE_DEVICES
from smlocal.contract.hosts import Host
from smlocal.contract.limits import Limits, read_size, read_ulimit
from smlocal.contract.listing import Listing
from smlocal.planning.faults import planned_faults
from smlocal.planning.gpus import share_out
from smlocal.planning.limits import MIB, wants_limits
from smlocal.planning.model import (
    ContainerFolders,
    HostPlan,
    JobPlan,
    OutputPlan,
    ProgramPlan,
    StopPlan,
    TreePlan,
)
from smlocal.planning.network import plan_network
from smlocal.platforms.ai_platform.environment.variables import replica_variables
from smlocal.platforms.ai_platform.identity import PROJECT, resource_name
from smlocal.platforms.ai_platform.jobfile.job_file import JobFile
from smlocal.platforms.ai_platform.lifecycle.rules import GRACE
from smlocal.platforms.ai_platform.locations import BucketFolder
from smlocal.platforms.ai_platform.machine_types import container_memory_mib
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.name import NAME
from smlocal.platforms.ai_platform.planning.facts import Facts
from smlocal.platforms.ai_platform.planning.notes import notes
from smlocal.platforms.ai_platform.replicas import Replica, replicas
from smlocal.platforms.ai_platform.rules_of_request import lifecycle_rules

_FOLDERS: Final = ContainerFolders(root="", input="", data="", model="", output="", output_data="", failure="")
"""The platform promises none; buckets are mounted as a whole."""


def build_plan(job: JobFile, facts: Facts, *, name: str) -> JobPlan:
    """The plan of this request on this machine."""
    local, planned = job.local, replicas(job.kind, job.request, job=name)
    rules = lifecycle_rules(job.kind, job.request, region=facts.region)
    stem = f"smlocal-{name}-{facts.run_id}"
    hosts = tuple(host_of(each, number) for number, each in enumerate(planned, start=1))
    network = None
    if len(planned) > 1:
        names = [host.name for host in hosts]
        network = plan_network(stem, facts.subnet, names, within=local.NetworkRange, isolated=False)
    primary = planned[0]
    plan = JobPlan(
        platform=NAME,
        name=name,
        run_id=facts.run_id,
        arn=_resource(job, name, facts.region),
        region=facts.region,
        rights=local.rights,
        account=PROJECT,
        image=primary.image,
        image_facts=facts.images[primary.image],
        engine=facts.engine,
        machine=facts.machine,
        entrypoint=primary.entrypoint,
        command=primary.arguments,
        network=network,
        folders=_FOLDERS,
        hosts=tuple(
            HostPlan(
                host=host,
                container=f"{stem}-{host.name}",
                hostname=replica.host_name,
                directories=(),
                files={},
                channels=tuple(_tree(bucket) for bucket in facts.buckets),
                pipes=(),
                environment={
                    **replica_variables(job.kind, job.request, replica, planned, job=name),
                    **({VISIBLE_DEVICES: "void"} if devices is None and facts.machine.plain_runtime is None else {}),
                },
                extra_hosts={} if network is not None else {replica.host_name: "127.0.0.1"},
                aliases=(replica.host_name,) if network is not None else (),
                devices=devices,
                runtime=(facts.machine.plain_runtime or "") if devices is None else "",
                program=ProgramPlan(image=replica.image, entrypoint=replica.entrypoint, command=replica.arguments),
            )
            for replica, host, devices in zip(planned, hosts, share_out(hosts, local, facts.machine.gpus), strict=True)
        ),
        code=None,
        output=OutputPlan(
            uri=next((bucket.location for bucket in facts.buckets if bucket.is_output), ""),
            model_uri="",
            directory=facts.output,
            compression="NONE",
            merge_output=False,
        ),
        stop=StopPlan(
            max_runtime=int(rules.max_running or 0),
            grace=_grace(job),
            peer_grace=_grace(job),
        ),
        job_directory=facts.job_directory,
        faults=planned_faults(local.Faults, primary=hosts[0].name),
        keep=local.Keep,
        list_changes=local.ListChanges,
        request=job.request,
    )
    if network is not None:
        addresses = {
            replica.host_name: network.addresses[host.name] for replica, host in zip(planned, hosts, strict=True)
        }
        plan = replace(plan, hosts=tuple(replace(host, extra_hosts=addresses) for host in plan.hosts))
    if wants_limits(local):
        limited = (replace(h, limits=_limits(r, job, facts)) for h, r in zip(plan.hosts, planned, strict=True))
        plan = replace(plan, hosts=tuple(limited))
    return replace(
        plan, notes=notes(plan, job, planned, absent=[name for name, found in facts.images.items() if found is None])
    )


def _grace(job: JobFile) -> int:
    """The setting, if the file has it: its default is that of another platform."""
    stated = "StopGraceSeconds" in (job.document.data.get("Local") or {})
    return job.local.StopGraceSeconds if stated else int(GRACE)


def host_of(replica: Replica, number: int) -> Host:
    """The host that a replica is."""
    return Host(
        name=replica.host,
        number=number,
        instance_type=replica.machine.name,
        group=replica.group,
        gpus=replica.accelerators,
    )


def _resource(job: JobFile, name: str, region: str) -> str:
    return resource_name(name, region=region) if job.kind is JobKind.CUSTOM_JOB else f"projects/{PROJECT}/jobs/{name}"


def _tree(bucket: BucketFolder) -> TreePlan:
    listing = Listing(
        root=bucket.folder,
        bucket_uri="file:///",
        prefix="",
        key_base="",
        paths=(),
        total_bytes=None,
        whole_tree=True,
    )
    return TreePlan(
        name=bucket.path.strip("/").replace("/", "-"),
        uri=bucket.location,
        target=bucket.path,
        listing=listing,
        staging="bind",
        reason=None,
        mode="FileSystem",
    )


def _limits(replica: Replica, job: JobFile, facts: Facts) -> Limits:
    local, machine = job.local, facts.machine
    memory = read_size(local.Memory or "")
    cpus = local.Cpus
    if local.EnforceInstanceLimits:
        of_type = min(container_memory_mib(replica.machine), machine.memory_mib) * MIB
        memory = min(memory or of_type, of_type)
        most = float(min(replica.machine.vcpus, machine.cpus))
        cpus = min(cpus or most, most)
    return Limits(
        memory=memory,
        cpus=cpus,
        shared_memory=read_size(local.ShmSize or ""),
        ulimits={name: read_ulimit(limit) or (0, 0) for name, limit in (local.Ulimits or {}).items()},
        processes=local.Processes,
    )
