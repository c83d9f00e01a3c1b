"""Makes the plan from the request and the facts. Pure: nothing here looks at the machine."""

from dataclasses import replace

from smlocal.distributed.requested import data_parallel_of
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import Facts
from smlocal.planning.faults import planned_faults
from smlocal.planning.gpus import devices_of
from smlocal.planning.limits import wants_limits
from smlocal.planning.model import (
    CredentialPlan,
    HostPlan,
    JobPlan,
    StopPlan,
)
from smlocal.planning.network import plan_network
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.documents.channel_manifest import manifest
from smlocal.platforms.sagemaker.contract.documents.environment import container_environment
from smlocal.platforms.sagemaker.contract.identity import SESSION_NAME, instance_hostname, training_job_arn
from smlocal.platforms.sagemaker.contract.metric_definitions import definitions_of
from smlocal.platforms.sagemaker.contract.model.request import AlgorithmSpecification, CreateTrainingJobRequest
from smlocal.platforms.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.name import NAME
from smlocal.platforms.sagemaker.planning.channels import manifests, pipes_of, trees_of
from smlocal.platforms.sagemaker.planning.collectors import collectors_of
from smlocal.platforms.sagemaker.planning.container_folders import FOLDERS
from smlocal.platforms.sagemaker.planning.endpoints import endpoints_of
from smlocal.platforms.sagemaker.planning.folders import checkpoints_of, code_of, output_of
from smlocal.platforms.sagemaker.planning.host_files import directories_of, files_of
from smlocal.platforms.sagemaker.planning.hosts import hosts_of
from smlocal.platforms.sagemaker.planning.limits import limits_of
from smlocal.platforms.sagemaker.planning.neuron import neuron_devices
from smlocal.platforms.sagemaker.planning.notes import notes
from smlocal.platforms.sagemaker.planning.rules import rules_of


def build_plan(job: JobFile, facts: Facts, *, name: str) -> JobPlan:
    """The plan of this request on this machine."""
    request, local = job.request, job.local
    resources, specification = request.ResourceConfig, request.AlgorithmSpecification
    if resources is None or specification is None or specification.TrainingImage is None:
        message = "validation requires ResourceConfig and a training image"
        raise AssertionError(message)
    hosts = hosts_of(resources)
    arn = training_job_arn(name, region_name=facts.region, account_id=facts.account)
    written = manifests(request, facts)
    checkpoints = checkpoints_of(request, local, facts, output=f"{facts.output.rstrip('/')}/{name}")
    if checkpoints is not None:
        written.setdefault(paths.CHECKPOINTS_MANIFEST, manifest(checkpoints.listing))
    stopping = request.StoppingCondition
    stem = f"smlocal-{name}-{facts.run_id}"
    network = None
    if len(hosts) > 1 or request.EnableNetworkIsolation:
        names = [host.name for host in hosts]
        isolated = request.EnableNetworkIsolation is True
        network = plan_network(
            stem, facts.subnet, names, within=local.NetworkRange, isolated=isolated, manager=facts.manager
        )
    endpoints, named = endpoints_of(local, facts, network)
    data_parallel = data_parallel_of(request, local)
    plan = JobPlan(
        platform=NAME,
        folders=FOLDERS,
        metrics=definitions_of(job.raw),
        name=name,
        run_id=facts.run_id,
        arn=arn,
        region=facts.region,
        rights=local.rights,
        account=facts.account,
        image=specification.TrainingImage,
        image_facts=facts.image,
        engine=facts.engine,
        machine=facts.machine,
        entrypoint=_words(specification.ContainerEntrypoint),
        command=_command(specification),
        network=network,
        hosts=tuple(
            HostPlan(
                host=host,
                container=f"{stem}-{host.name}",
                hostname=instance_hostname(host.number, facts.region),
                directories=directories_of(request),
                files=files_of(request, host, hosts, local, written),
                channels=trees_of(request, host, hosts, local, facts),
                pipes=pipes_of(request, host, hosts, local, facts),
                environment=container_environment(
                    request.Environment or {},
                    job_name=name,
                    job_arn=arn,
                    region=facts.region,
                    hides_gpus=devices is None and facts.machine_of(host.name).plain_runtime is None,
                    endpoints=endpoints,
                ),
                devices=devices,
                runtime=(facts.machine_of(host.name).plain_runtime or "") if devices is None else "",
                neuron=neuron,
                # A single host on the default network must be able to resolve its own name.
                extra_hosts={**({} if network is not None else {host.name: "127.0.0.1"}), **named},
                aliases=(host.name,) if network is not None else (),
                engine=facts.engine_of(host.name),
            )
            for host, devices, neuron in zip(
                hosts, devices_of(hosts, local, facts), neuron_devices(hosts, local), strict=True
            )
        ),
        code=code_of(facts, local),
        output=output_of(request, local, facts, name),
        stop=StopPlan(
            max_runtime=(stopping.MaxRuntimeInSeconds if stopping is not None else None) or DEFAULT_MAX_RUNTIME,
            max_wait=stopping.MaxWaitTimeInSeconds if stopping is not None else None,
            grace=local.StopGraceSeconds,
            peer_grace=local.PeerGraceSeconds,
        ),
        job_directory=facts.job_directory,
        checkpoints=checkpoints,
        collectors=collectors_of(
            request,
            facts.collectors,
            name=name,
            output=f"{facts.output.rstrip('/')}/{name}",
            publish=local.Publish,
        ),
        rules=rules_of(request, local, facts),
        on_rule=dict(local.OnRule),
        credentials=_credentials(request, local),
        retries=request.RetryStrategy.MaximumRetryAttempts if request.RetryStrategy is not None else 0,
        faults=planned_faults(local.Faults),
        keep=local.Keep,
        list_changes=local.ListChanges,
        names_after=_seconds_late(local, "LateNames"),
        fifos_after=_seconds_late(local, "LateFifo"),
        unreachable=() if network is not None and network.isolated else facts.loopback_only,
        cache_bytes=local.CacheGiB << 30 if local.Cache else 0,
        data_parallel=data_parallel,
        engines=tuple(share.engine for share in facts.shares),
        machines=tuple(share.machine for share in facts.shares),
        request={"TrainingJobName": name, **job.raw},
    )
    if data_parallel is not None:
        plan = replace(plan, hosts=tuple(_with_search_paths(host, facts) for host in plan.hosts))
    if wants_limits(local):
        limited = (replace(h, limits=limits_of(h.host, resources, local, facts, h.channels)) for h in plan.hosts)
        plan = replace(plan, hosts=tuple(limited), no_volume=facts.no_volume)
    return replace(plan, notes=notes(plan, job))


def _with_search_paths(host: HostPlan, facts: Facts) -> HostPlan:
    from smlocal.distributed.mounts import search_paths  # few jobs ask for the library

    image = facts.image.environment if facts.image is not None else {}
    return replace(host, environment={**host.environment, **search_paths(host.environment, image)})


def _seconds_late(local: LocalSettings, kind: str) -> int:
    return max((fault.AfterSeconds for fault in local.Faults if fault.Kind == kind), default=0)


def _credentials(request: CreateTrainingJobRequest, local: LocalSettings) -> CredentialPlan | None:
    """None with network isolation, as on the service."""
    if local.Credentials == "none" or request.EnableNetworkIsolation:
        return None
    return CredentialPlan(mode=local.Credentials, role_arn=request.RoleArn or "", session=SESSION_NAME)


def _command(specification: AlgorithmSpecification) -> tuple[str, ...] | None:
    """The arguments: those of the request, none with an entrypoint of the request, else `train`."""
    if specification.ContainerArguments is not None:
        return tuple(specification.ContainerArguments)
    return None if specification.ContainerEntrypoint is not None else ("train",)


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)
