"""The plan, made from the request and the facts, with notes and document. Pure: nothing here looks at the machine."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from smlocal.ai_platform.answer import snake_case, stored_form
from smlocal.ai_platform.coverage import recorded_members
from smlocal.ai_platform.identity import PROJECT, cloud_id, custom_job_number, resource_name
from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile
from smlocal.ai_platform.lifecycle.progress import GRACE
from smlocal.ai_platform.locations import BucketFolder, output_locations
from smlocal.ai_platform.machine_types import container_memory_mib
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.planned_job import lifecycle_rules
from smlocal.ai_platform.replicas import Replica, replicas
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.jobs.planning.aspects.accelerators.plan import HostAccelerators, share_out
from smlocal.jobs.planning.aspects.debugging.plan import debug_of
from smlocal.jobs.planning.aspects.debugging.show import debug_text
from smlocal.jobs.planning.aspects.engines.plan import EnginesPlan, MachineFacts
from smlocal.jobs.planning.aspects.faults.plan import faults_of
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs
from smlocal.jobs.planning.aspects.limits.plan import MIB, asked_limits, wants_limits, within
from smlocal.jobs.planning.aspects.network.plan import HostNames, JobNetwork, NetworkPlan, plan_network
from smlocal.jobs.planning.aspects.network.show import added_hosts_text, joined_text
from smlocal.jobs.planning.aspects.output.plan import OutputPlan
from smlocal.jobs.planning.model import HostPlan, IdentityPlan, JobPlan, KeptPlan, Note, note_documents
from smlocal.jobs.planning.workload import ContainerFolders, StopPlan
from smlocal.terms.channels import TreePlan
from smlocal.terms.gpus import VISIBLE_DEVICES
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits
from smlocal.terms.listing import Listing

_FOLDERS: Final = ContainerFolders(root="", input="", data="", model="", output="", output_data="", failure="")
"""The platform promises none; buckets are mounted as a whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaFacts:
    """Everything about this machine that decides how a request is run."""

    engine: EngineFacts
    machine: MachineFacts
    images: Mapping[str, ImageFacts | None]
    """By name; None for those that are not on the engine."""
    buckets: tuple[BucketFolder, ...]
    output: str
    """The absolute local folder for what the job writes."""
    region: str
    run_id: str
    job_directory: str
    subnet: str = ""
    """A free subnet for the job's own network, if it needs one."""


def build_plan(job: ReplicaJobFile, facts: ReplicaFacts, *, name: str) -> JobPlan:
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
        platform="ai_platform",
        name=name,
        run_id=facts.run_id,
        job_directory=facts.job_directory,
        request=job.request,
        rights=local.rights,
        identity=IdentityPlan(arn=_resource(job, name, facts.region), region=facts.region, account=PROJECT),
        image=_image(primary, facts),
        engines=EnginesPlan(first=facts.engine, machine=facts.machine),
        network=JobNetwork(own=network, joined=tuple(local.Networks)),
        folders=_FOLDERS,
        hosts=tuple(
            HostPlan(
                host=host,
                container=f"{stem}-{host.name}",
                names=_names(replica, planned, hosts, network, added=local.AddHosts),
                directories=(),
                files={},
                inputs=HostInputs(trees=tuple(_tree(bucket) for bucket in facts.buckets)),
                environment={
                    **replica_variables(job.kind, job.request, replica, planned, job=name),
                    **(
                        {VISIBLE_DEVICES: "void"}
                        if devices is None and facts.machine.accelerators.plain_runtime is None
                        else {}
                    ),
                },
                accelerators=HostAccelerators(
                    gpus=devices,
                    runtime=(facts.machine.accelerators.plain_runtime or "") if devices is None else "",
                ),
                program=_image(replica, facts),
            )
            for replica, host, devices in zip(
                planned, hosts, share_out(hosts, local, facts.machine.accelerators.gpus), strict=True
            )
        ),
        output=OutputPlan(
            uri=next((bucket.location for bucket in facts.buckets if bucket.is_output), ""),
            model_uri="",
            directory=facts.output,
            compression="NONE",
            merge_output=False,
        ),
        debug=debug_of(local.DebugPort, [host.name for host in hosts]),
        stop=StopPlan(
            max_runtime=int(rules.max_running or 0),
            grace=_grace(job),
            peer_grace=_grace(job),
        ),
        faults=faults_of(local.Faults, primary=hosts[0].name),
        kept=KeptPlan(containers=local.Keep, changes=local.ListChanges),
    )
    if wants_limits(local):
        limited = (replace(h, limits=_limits(r, job, facts)) for h, r in zip(plan.hosts, planned, strict=True))
        plan = replace(plan, hosts=tuple(limited))
    return replace(
        plan, notes=notes(plan, job, planned, absent=[name for name, found in facts.images.items() if found is None])
    )


def _image(replica: Replica, facts: ReplicaFacts) -> ImagePlan:
    return ImagePlan(
        name=replica.image,
        facts=facts.images[replica.image],
        entrypoint=replica.entrypoint,
        command=replica.arguments,
    )


def _names(
    replica: Replica,
    planned: Sequence[Replica],
    hosts: Sequence[Host],
    network: NetworkPlan | None,
    *,
    added: Mapping[str, str],
) -> HostNames:
    """On the job's own network each replica knows all of them by the names that the platform gives them."""
    name = replica.host_name
    if network is None:
        return HostNames(hostname=name, extra_hosts={name: "127.0.0.1", **added})
    known = {each.host_name: network.addresses[host.name] for each, host in zip(planned, hosts, strict=True)}
    return HostNames(hostname=name, extra_hosts={**known, **added}, aliases=(name,))


def _grace(job: ReplicaJobFile) -> int:
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


def _resource(job: ReplicaJobFile, name: str, region: str) -> str:
    return (
        resource_name(name, region=region)
        if job.kind is ReplicaJobKind.CUSTOM_JOB
        else f"projects/{PROJECT}/jobs/{name}"
    )


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


def _limits(replica: Replica, job: ReplicaJobFile, facts: ReplicaFacts) -> Limits:
    limits, machine = asked_limits(job.local), facts.machine
    if not job.local.EnforceInstanceLimits:
        return limits
    memory = min(container_memory_mib(replica.machine), machine.memory_mib) * MIB
    return within(limits, memory=memory, cpus=float(min(replica.machine.vcpus, machine.cpus)))


# Notes on what differs from the service for a job.


def notes(
    plan: JobPlan, job: ReplicaJobFile, replicas: Sequence[Replica], *, absent: Sequence[str]
) -> tuple[Note, ...]:
    """All notes, in the order in which they are shown. `absent`: images that are not on the engine."""
    missing = [
        Note(id="image-absent", text=f"{image} is not available locally; a run pulls it first") for image in absent
    ]
    return (*missing, *(Note(id=name, text=text) for name, text in _notes(plan, job, replicas)))


def _notes(plan: JobPlan, job: ReplicaJobFile, replicas: Sequence[Replica]) -> Iterator[tuple[str, str]]:
    recorded = recorded_members(job.kind, job.request)
    if recorded:
        yield "recorded", f"recorded, without an effect here: {', '.join(recorded)}"
    mapped = [f"{tree.uri} is {tree.listing.root}" for tree in plan.trees]
    if mapped:
        yield "buckets", f"local folders stand for buckets: {', '.join(mapped)}"
    machines = {each.machine.name for each in replicas}
    if not job.local.EnforceInstanceLimits:
        yield (
            "machines",
            (
                f"replicas have all processors and memory of this machine, not those of {', '.join(sorted(machines))};"
                " Local.EnforceInstanceLimits limits them"
            ),
        )
    without = [
        each.name
        for each, host in zip(replicas, plan.hosts, strict=True)
        if each.accelerators and not host.accelerators.gpus
    ]
    said = {
        "networks-joined": joined_text(plan),
        "hosts-added": added_hosts_text(job.local),
        "debug": debug_text(plan),
    }
    yield from ((name, text) for name, text in said.items() if text is not None)
    if without:
        yield "allow-cpu", f"without the accelerators that the service gives them: {', '.join(without)}"


def plan_document(plan: JobPlan) -> dict[str, Any]:
    """Everything that `smlocal plan --json` prints."""
    return {
        "Version": 1,
        "Platform": plan.platform,
        "Name": plan.name,
        "Resource": plan.identity.arn,
        "Region": plan.identity.region,
        "Request": dict(plan.request),
        "Engine": {
            "Address": plan.engines.first.address,
            "Version": plan.engines.first.version,
            "Product": plan.engines.first.product,
        },
        "Network": None
        if plan.network.own is None
        else {
            "Name": plan.network.own.name,
            "Subnet": plan.network.own.subnet,
            "Addresses": dict(plan.network.own.addresses),
        },
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
        "GpuIds": None
        if host.accelerators.gpus is None
        else "all"
        if host.accelerators.gpus.every
        else host.accelerators.gpus.ids,
        "Image": program and program.name,
        "Entrypoint": program and program.entrypoint,
        "Command": program and program.command,
        "Container": host.container,
        "Hostname": host.names.hostname,
        "Environment": dict(host.environment),
        "Mounts": [{"Target": tree.target, "Source": tree.listing.root, "Uri": tree.uri} for tree in host.inputs.trees],
        "Limits": {"Memory": host.limits.memory, "Cpus": host.limits.cpus},
    }


_TASKS: Final = {
    "workerpool0": "chief",
    "workerpool1": "worker",
    "workerpool2": "ps",
    "workerpool3": "evaluator",
}
"""TensorFlow's names for the replicas of a custom job; those of AI Platform Training have these names already."""
_EVALUATOR: Final = "evaluator"
_OPEN_PORTS: Final = [3333]
_NO_PACKAGE: Final = '{"python_module":"","package_uris":[],"job_args":[]}'
"""`job` of a custom job whose pools have images.

The documentation says that it is the whole specification, but replicas have printed this text.
"""


def cluster_spec(
    kind: ReplicaJobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica]
) -> dict[str, Any]:
    """The value of CLUSTER_SPEC."""
    spec = {
        "cluster": _addresses((each.group, each) for each in replicas),
        "environment": "cloud",
        "task": {"type": replica.group, "index": replica.index},
        "job": job_description(kind, request),
    }
    return spec if kind is ReplicaJobKind.TRAINING_JOB else {**spec, "open_ports": _OPEN_PORTS}


def tf_config(
    kind: ReplicaJobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica], *, job: str
) -> dict[str, Any]:
    """The value of TF_CONFIG. Evaluators are not part of the cluster."""
    is_chief = kind is ReplicaJobKind.CUSTOM_JOB or bool(request["trainingInput"].get("useChiefInTfConfig"))
    tasks = ((_task(each, is_chief=is_chief), each) for each in replicas)
    return {
        "cluster": _addresses((task, each) for task, each in tasks if task != _EVALUATOR),
        "environment": "cloud",
        "job": job_description(kind, request),
        "task": {"cloud": cloud_id(job), "index": replica.index, "type": _task(replica, is_chief=is_chief)},
    }


def job_description(kind: ReplicaJobKind, request: Mapping[str, Any]) -> dict[str, Any] | str:
    """`job` in both variables."""
    if kind is ReplicaJobKind.CUSTOM_JOB:
        return _NO_PACKAGE
    stored = snake_case(stored_form(kind, "TrainingInput", request["trainingInput"]))
    return {**stored, "run_on_raw_vm": True}


def compact(value: Any) -> str:
    """JSON on one line, as the services write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _task(replica: Replica, *, is_chief: bool) -> str:
    if replica.group == "master":
        return "chief" if is_chief else "master"
    return _TASKS.get(replica.group, replica.group)


def _addresses(replicas: Iterable[tuple[str, Replica]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, replica in replicas:
        found.setdefault(name, []).append(replica.address)
    return found


_OUTPUT: Final = {"AIP_MODEL_DIR": "model", "AIP_CHECKPOINT_DIR": "checkpoints", "AIP_TENSORBOARD_LOG_DIR": "logs"}
_REFERENCE: Final = re.compile(r"\$\$\((\w+)\)|\$\((\w+)\)")


def replica_variables(
    kind: ReplicaJobKind, request: Mapping[str, Any], replica: Replica, replicas: Sequence[Replica], *, job: str
) -> dict[str, str]:
    """All variables of a replica: those of the service, then those of the request."""
    found = {"CLUSTER_SPEC": compact(cluster_spec(kind, request, replica, replicas))}
    if kind is ReplicaJobKind.TRAINING_JOB or len(replicas) > 1:
        found["TF_CONFIG"] = compact(tf_config(kind, request, replica, replicas, job=job))
    if kind is ReplicaJobKind.TRAINING_JOB:
        found |= {"CLOUD_ML_JOB_ID": job, "CLOUD_ML_JOB": compact(job_description(kind, request))}
    else:
        found["CLOUD_ML_JOB_ID"] = custom_job_number(job)
        for location in output_locations(kind, request):
            found |= {name: f"{location.rstrip('/')}/{folder}/" for name, folder in _OUTPUT.items()}
    return expanded(found, replica.variables)


def expanded(service: Mapping[str, str], given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The variables of the service and those of a request, in which `$(NAME)` stands for an earlier one.

    A name that is not known is left as it is, and `$$(NAME)` is `$(NAME)`.
    """
    found = dict(service)
    for name, value in given:
        found[name] = _REFERENCE.sub(lambda match: _meant(match, found), value)
    return found


def _meant(match: re.Match[str], found: Mapping[str, str]) -> str:
    if match[1] is not None:
        return f"$({match[1]})"
    return found.get(match[2], match[0])
