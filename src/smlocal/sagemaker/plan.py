"""Makes the plan from the request and the facts. Pure: nothing here looks at the machine."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.data_parallel.requested import data_parallel_of, search_paths
from smlocal.jobs.planning.aspects.accelerators.plan import accelerators_of
from smlocal.jobs.planning.aspects.credentials.plan import credentials_of
from smlocal.jobs.planning.aspects.debugging.plan import debug_of
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, EnginesPlan
from smlocal.jobs.planning.aspects.faults.plan import faults_of
from smlocal.jobs.planning.aspects.image.plan import ImagePlan
from smlocal.jobs.planning.aspects.inputs.asked import code_of, manifests, pipes_of, trees_of
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs, InputsPlan, TreePlan, delivered_bytes
from smlocal.jobs.planning.aspects.limits.plan import limits_of, wants_limits
from smlocal.jobs.planning.aspects.mirrored.asked import mirrored_of
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredPlan
from smlocal.jobs.planning.aspects.network.asked import endpoints_of, plan_network
from smlocal.jobs.planning.aspects.network.plan import HostNames, JobNetwork
from smlocal.jobs.planning.aspects.output.asked import output_of
from smlocal.jobs.planning.aspects.rules.asked import rules_of
from smlocal.jobs.planning.aspects.warm_pool.plan import WarmPoolPlan, pool_directory
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import ContainerFolders, HostPlan, IdentityPlan, JobPlan, KeptPlan, StopPlan
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import (
    config_files,
    container_environment,
    is_for,
    manifest,
)
from smlocal.sagemaker.contract.identity import SESSION_NAME, instance_hostname, sagemaker_arn
from smlocal.sagemaker.contract.model.request import (
    AlgorithmSpecification,
    CreateTrainingJobRequest,
    ResourceConfig,
)
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.contract.paths import container_path, is_own_mount
from smlocal.sagemaker.contract.requested import definitions_of, hosts_of, matching_settings
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.name import NAME
from smlocal.sagemaker.notes import notes
from smlocal.sagemaker.simulated import faults_to_come
from smlocal.terms.checkpoints import within
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact
from smlocal.terms.limits import Limits

_FOLDERS: Final = ContainerFolders(
    root=paths.ROOT,
    input=paths.INPUT,
    data=paths.DATA,
    model=paths.MODEL,
    output=paths.OUTPUT,
    output_data=paths.OUTPUT_DATA,
    failure=paths.FAILURE,
    warm_pool=paths.WARM_POOL,
)
"""The folders of SageMaker's containers."""
_MOUNTED = (paths.CONFIG, paths.DATA, paths.MODEL, paths.OUTPUT_DATA, paths.METRICS, paths.PROFILER, paths.WARM_POOL)


def build_plan(job: JobFile, facts: Facts, *, name: str) -> JobPlan:
    """The plan of this request on this machine."""
    request, local = job.request, job.local
    resources, specification = request.ResourceConfig, request.AlgorithmSpecification
    if resources is None or specification is None or specification.TrainingImage is None:
        message = "validation requires ResourceConfig and a training image"
        raise AssertionError(message)
    hosts = hosts_of(resources)
    output = output_of(request.OutputDataConfig, local, facts.output, name)
    mirrored = mirrored_of(request, local, facts.mirrored, output=output.directory, name=name)
    network = _network(request, local, facts, stem=f"smlocal-{name}-{facts.run_id}", hosts=hosts)
    data_parallel = data_parallel_of(request, local)
    plan = JobPlan(
        platform=NAME,
        name=name,
        run_id=facts.run_id,
        job_directory=facts.job_directory,
        request={"TrainingJobName": name, **job.raw},
        rights=local.rights,
        identity=IdentityPlan(
            arn=sagemaker_arn("training-job", name, region=facts.region, account=facts.account),
            region=facts.region,
            account=facts.account,
        ),
        image=ImagePlan(
            name=specification.TrainingImage,
            facts=facts.image,
            entrypoint=_words(specification.ContainerEntrypoint),
            command=_command(specification),
        ),
        engines=EnginesPlan(
            first=facts.engines.first,
            machine=facts.engines.machine,
            several=tuple(share.engine for share in facts.engines.shares),
            machines=tuple(share.machine for share in facts.engines.shares),
        ),
        network=network,
        folders=_FOLDERS,
        hosts=_hosts(job, facts, name=name, resources=resources, hosts=hosts, network=network, mirrored=mirrored),
        inputs=InputsPlan(
            code=code_of(facts.inputs.code, facts.engines.first, local),
            cache_bytes=local.CacheGiB << 30 if local.Cache else 0,
        ),
        output=output,
        mirrored=mirrored,
        credentials=credentials_of(
            local, role_arn=request.RoleArn or "", session=SESSION_NAME, isolated=request.EnableNetworkIsolation is True
        ),
        rules=rules_of(request.DebugRuleConfigurations or (), local, facts.engines, facts.rules),
        metrics=definitions_of(job.raw),
        data_parallel=data_parallel,
        debug=debug_of(local.DebugPort, [host.name for host in hosts]),
        warm_pool=_warm_pool(request, facts, name=name, hosts=hosts, mirrored=mirrored),
        stop=_stop(request, local),
        faults=faults_of(faults_to_come(job)),
        kept=KeptPlan(containers=local.Keep, changes=local.ListChanges),
    )
    if data_parallel is not None:
        plan = replace(plan, hosts=tuple(_with_search_paths(host, facts) for host in plan.hosts))
    return replace(plan, notes=notes(plan, job))


def _hosts(
    job: JobFile,
    facts: Facts,
    *,
    name: str,
    resources: ResourceConfig,
    hosts: tuple[Host, ...],
    network: JobNetwork,
    mirrored: MirroredPlan,
) -> tuple[HostPlan, ...]:
    """Each container, and everything in it."""
    request, local = job.request, job.local
    written = manifests(request, facts.inputs)
    if mirrored.checkpoints is not None:
        written.setdefault(paths.CHECKPOINTS_MANIFEST, manifest(mirrored.checkpoints.listing))
    variables, named = endpoints_of(local, facts.engines, facts.network, network.own)
    accelerators = accelerators_of(
        hosts, local, ((there, machine.accelerators) for there, machine in facts.engines.groups(hosts))
    )
    planned = []
    for host in hosts:
        given = accelerators[host.name]
        trees = trees_of(request, host, hosts, local=local, facts=facts.inputs, engine=facts.engines.first)
        planned.append(
            HostPlan(
                host=host,
                container=f"smlocal-{name}-{facts.run_id}-{host.name}",
                names=HostNames(
                    hostname=instance_hostname(host.number, facts.region),
                    # A single host on the default network must be able to resolve its own name.
                    extra_hosts={
                        **({} if network.own is not None else {host.name: "127.0.0.1"}),
                        **named,
                        **local.AddHosts,
                    },
                    aliases=(host.name,) if network.own is not None else (),
                ),
                directories=_directories(request),
                files=_files(request, host, hosts, local, written),
                inputs=HostInputs(trees=trees, pipes=pipes_of(request, host, hosts, local=local, facts=facts.inputs)),
                environment=container_environment(
                    request.Environment or {},
                    job_name=name,
                    job_arn=sagemaker_arn("training-job", name, region=facts.region, account=facts.account),
                    region=facts.region,
                    hides_gpus=given.gpus is None
                    and facts.engines.machine_of(host.name).accelerators.plain_runtime is None,
                    endpoints=variables,
                ),
                accelerators=given,
                limits=_limits(host, resources, local, facts.engines, trees),
                engine=facts.engines.address_of(host.name),
            )
        )
    return tuple(planned)


def _limits(
    host: Host, resources: ResourceConfig, local: LocalSettings, engines: EnginesFacts, trees: tuple[TreePlan, ...]
) -> Limits:
    if not wants_limits(local):
        return Limits()
    machine = engines.machine_of(host.name)
    return limits_of(
        host,
        local,
        engines.machine.limits,
        cpus=machine.cpus,
        memory_mib=machine.memory_mib,
        volume_gb=resources.VolumeSizeInGB,
        delivered=delivered_bytes(trees),
    )


def _network(
    request: CreateTrainingJobRequest, local: LocalSettings, facts: Facts, *, stem: str, hosts: tuple[Host, ...]
) -> JobNetwork:
    """A network of the job's own for several hosts, and for isolation."""
    own, isolated = None, request.EnableNetworkIsolation is True
    if len(hosts) > 1 or isolated:
        names = [host.name for host in hosts]
        own = plan_network(
            stem,
            facts.network.subnet,
            names,
            within=local.NetworkRange,
            isolated=isolated,
            manager=facts.engines.manager,
        )
    return JobNetwork(
        own=own, unreachable=() if isolated else facts.network.loopback_only, joined=tuple(local.Networks)
    )


def _warm_pool(
    request: CreateTrainingJobRequest, facts: Facts, *, name: str, hosts: tuple[Host, ...], mirrored: MirroredPlan
) -> WarmPoolPlan | None:
    resources = request.ResourceConfig
    seconds = resources.KeepAlivePeriodInSeconds if resources is not None else None
    if not seconds:
        return None
    inside = [each.local_path for each in mirrored.collectors]
    inside += [] if mirrored.checkpoints is None else [mirrored.checkpoints.local_path]
    own = facts.engines.first.shares_folders and not any(within(path, paths.WARM_POOL) for path in inside)
    return WarmPoolPlan(
        seconds=seconds,
        like=matching_settings(request, hosts),
        directory=pool_directory(facts.job_directory, name, facts.run_id) if own else "",
    )


def _stop(request: CreateTrainingJobRequest, local: LocalSettings) -> StopPlan:
    condition, retry = request.StoppingCondition, request.RetryStrategy
    return StopPlan(
        max_runtime=(condition.MaxRuntimeInSeconds if condition is not None else None) or DEFAULT_MAX_RUNTIME,
        max_wait=condition.MaxWaitTimeInSeconds if condition is not None else None,
        grace=local.StopGraceSeconds,
        peer_grace=local.PeerGraceSeconds,
        retries=retry.MaximumRetryAttempts if retry is not None else 0,
    )


def _with_search_paths(host: HostPlan, facts: Facts) -> HostPlan:
    image = facts.image.environment if facts.image is not None else {}
    return replace(host, environment={**host.environment, **search_paths(host.environment, image)})


def _command(specification: AlgorithmSpecification) -> tuple[str, ...] | None:
    """The arguments: those of the request, none with an entrypoint of the request, else `train`."""
    if specification.ContainerArguments is not None:
        return tuple(specification.ContainerArguments)
    return None if specification.ContainerEntrypoint is not None else ("train",)


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def for_attempt(plan: JobPlan, number: int) -> JobPlan:
    """The same plan with the attempt's number in init-config.json, and the checkpoints that there are now."""
    checkpoints = plan.mirrored.checkpoints
    restored = {} if checkpoints is None else {paths.CHECKPOINTS_MANIFEST: manifest(checkpoints.listing)}
    path = f"{paths.CONFIG}/init-config.json"
    hosts = []
    for host in plan.hosts:
        document = json.loads(host.files[path])
        document["jobRunInfo"]["jobRunNumber"] = number
        hosts.append(replace(host, files={**host.files, **restored, path: compact(document)}))
    return replace(plan, hosts=tuple(hosts))


def _directories(request: CreateTrainingJobRequest) -> tuple[str, ...]:
    """The folders that are empty at the start."""
    collectors = (
        (request.DebugHookConfig, paths.TENSORS),
        (request.TensorBoardOutputConfig, paths.TENSORBOARD),
    )
    asked = [config.LocalPath or default for config, default in collectors if config is not None]
    made = [path for path in map(container_path, asked) if not is_own_mount(path)]
    if request.CheckpointConfig is not None:
        path = container_path(request.CheckpointConfig.LocalPath)
        # A folder with its own mount is made where it is filled.
        made += [] if is_own_mount(path) else [path]
    return (*_MOUNTED, *made)


def _files(
    request: CreateTrainingJobRequest,
    host: Host,
    hosts: tuple[Host, ...],
    local: LocalSettings,
    manifests: Mapping[str, bytes],
) -> Mapping[str, bytes]:
    """Config files, and the manifests of the channels that the host has."""
    absent = {paths.channel_manifest(c.ChannelName) for c in request.InputDataConfig or () if not is_for(c, host)}
    written = config_files(request, host, hosts, keys=local.ResourceConfigKeys, interface=local.NetworkInterface)
    return {
        **{f"{paths.CONFIG}/{name}": content for name, content in written.items()},
        **{path: content for path, content in manifests.items() if path not in absent},
    }
