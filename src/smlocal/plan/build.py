"""Request and facts, turned into the plan. Pure: nothing here looks at the machine."""

import json
from collections.abc import Mapping
from dataclasses import replace

from smlocal.contract import paths
from smlocal.contract.checkpoints import container_path, folder_key, is_own_mount
from smlocal.contract.config_files import compact, config_files, is_for
from smlocal.contract.describe import DEFAULT_MAX_RUNTIME
from smlocal.contract.environment import container_environment
from smlocal.contract.hosts import Host, heterogeneous, homogeneous
from smlocal.contract.identity import instance_hostname, training_job_arn
from smlocal.contract.job_file import JobFile
from smlocal.contract.local_settings import LocalSettings
from smlocal.contract.manifest import manifest
from smlocal.contract.model.request import AlgorithmSpecification, CreateTrainingJobRequest, ResourceConfig
from smlocal.plan.channels import manifests, pipes_of, trees_of
from smlocal.plan.collectors import collectors_of
from smlocal.plan.endpoints import endpoints_of
from smlocal.plan.facts import Facts
from smlocal.plan.gpus import share_out
from smlocal.plan.limits import limits_of, wants_limits
from smlocal.plan.model import (
    CheckpointPlan,
    CredentialPlan,
    FaultPlan,
    HostPlan,
    JobPlan,
    OutputPlan,
    StopPlan,
    TreePlan,
)
from smlocal.plan.network import plan_network
from smlocal.plan.notes import notes
from smlocal.plan.staging import choose_staging

_MOUNTED = (paths.CONFIG, paths.DATA, paths.MODEL, paths.OUTPUT_DATA, paths.METRICS, paths.PROFILER)


def build_plan(job: JobFile, facts: Facts, *, name: str) -> JobPlan:
    """Say exactly what will be done for this request on this machine."""
    request, local = job.request, job.local
    resources, specification = request.ResourceConfig, request.AlgorithmSpecification
    if resources is None or specification is None or specification.TrainingImage is None:
        message = "validation lets no request pass without ResourceConfig and a training image"
        raise AssertionError(message)
    hosts = hosts_of(resources)
    arn = training_job_arn(name, region_name=facts.region, account_id=facts.account)
    written = manifests(request, facts)
    checkpoints = _checkpoints(request, local, facts, output=f"{facts.output.rstrip('/')}/{name}")
    if checkpoints is not None:
        written.setdefault(paths.CHECKPOINTS_MANIFEST, manifest(checkpoints.listing))
    stopping = request.StoppingCondition
    stem = f"smlocal-{name}-{facts.run_id}"
    network = None
    if len(hosts) > 1 or request.EnableNetworkIsolation:
        names = [host.name for host in hosts]
        isolated = request.EnableNetworkIsolation is True
        network = plan_network(stem, facts.subnet, names, within=local.NetworkRange, isolated=isolated)
    endpoints, named = endpoints_of(local, facts, network)
    plan = JobPlan(
        name=name,
        run_id=facts.run_id,
        arn=arn,
        region=facts.region,
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
                directories=_directories(request),
                files={**_configuration(request, host, hosts, local), **_for_host(written, request, host)},
                channels=trees_of(request, host, hosts, local, facts),
                pipes=pipes_of(request, host, hosts, facts),
                environment=container_environment(
                    request.Environment or {},
                    job_name=name,
                    job_arn=arn,
                    region=facts.region,
                    gpus=devices is not None,
                    endpoints=endpoints,
                ),
                devices=devices,
                # Alone on the default network, a host must know its own name.
                extra_hosts={**({} if network is not None else {host.name: "127.0.0.1"}), **named},
                aliases=(host.name,) if network is not None else (),
            )
            for host, devices in zip(hosts, share_out(hosts, local, facts.machine.gpus), strict=True)
        ),
        code=_code(facts, local),
        output=_output(request, local, facts, name),
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
        credentials=_credentials(request, local),
        retries=request.RetryStrategy.MaximumRetryAttempts if request.RetryStrategy is not None else 0,
        faults=tuple(
            FaultPlan(interrupt=fault.Kind == "Interrupt", when=fault.When, after=fault.AfterSeconds, times=fault.Times)
            for fault in local.Faults
        ),
        unreachable=() if network is not None and network.isolated else facts.loopback_only,
        cache_bytes=local.CacheGiB << 30 if local.Cache else 0,
        request={"TrainingJobName": name, **job.raw},
    )
    if wants_limits(local):
        limited = (replace(h, limits=limits_of(h.host, resources, local, facts, h.channels)) for h in plan.hosts)
        plan = replace(plan, hosts=tuple(limited), no_volume=facts.no_volume)
    return replace(plan, notes=notes(plan, job))


def for_attempt(plan: JobPlan, number: int) -> JobPlan:
    """The plan of a later attempt: all is as before but the run counter of the platform's own file."""
    path = f"{paths.CONFIG}/init-config.json"
    hosts = []
    for host in plan.hosts:
        document = json.loads(host.files[path])
        document["jobRunInfo"]["jobRunNumber"] = number
        hosts.append(replace(host, files={**host.files, path: compact(document)}))
    return replace(plan, hosts=tuple(hosts))


def host_count(resources: ResourceConfig) -> int:
    """How many hosts a request asks for."""
    if resources.InstanceGroups:
        return sum(group.InstanceCount for group in resources.InstanceGroups)
    return resources.InstanceCount or 1


def hosts_of(resources: ResourceConfig) -> tuple[Host, ...]:
    """The hosts that a request asks for."""
    if resources.InstanceGroups:
        groups = resources.InstanceGroups
        return heterogeneous([(g.InstanceGroupName, g.InstanceType, g.InstanceCount) for g in groups])
    return homogeneous(resources.InstanceCount or 1, resources.InstanceType or "")


def _for_host(written: Mapping[str, bytes], request: CreateTrainingJobRequest, host: Host) -> Mapping[str, bytes]:
    """The manifests that a host has: not those of channels of other instance groups."""
    absent = {paths.channel_manifest(c.ChannelName) for c in request.InputDataConfig or () if not is_for(c, host)}
    return {path: content for path, content in written.items() if path not in absent}


def _credentials(request: CreateTrainingJobRequest, local: LocalSettings) -> CredentialPlan | None:
    """A job that is cut off from the network gets none, here and on the service."""
    if local.Credentials == "none" or request.EnableNetworkIsolation:
        return None
    return CredentialPlan(mode=local.Credentials, role_arn=request.RoleArn or "")


def _command(specification: AlgorithmSpecification) -> tuple[str, ...] | None:
    """`train`, unless the request says otherwise; an entrypoint of the request stands alone."""
    if specification.ContainerArguments is not None:
        return tuple(specification.ContainerArguments)
    return None if specification.ContainerEntrypoint is not None else ("train",)


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _code(facts: Facts, local: LocalSettings) -> TreePlan | None:
    if facts.code is None:
        return None
    staging, reason = choose_staging(facts.code, local.Staging, here=facts.engine.local)
    uri = local.Code or ""
    return TreePlan(name="code", uri=uri, target=paths.CODE, listing=facts.code, staging=staging, reason=reason)


def _checkpoints(
    request: CreateTrainingJobRequest, local: LocalSettings, facts: Facts, *, output: str
) -> CheckpointPlan | None:
    config, listing = request.CheckpointConfig, facts.checkpoints
    if config is None or listing is None:
        return None
    return CheckpointPlan(
        uri=config.S3Uri,
        directory=listing.root or f"{output}/checkpoints",
        local_path=container_path(config.LocalPath),
        listing=listing,
        s3_prefix=f"{listing.bucket_uri}{folder_key(listing.prefix)}" if local.Publish and listing.remote else None,
    )


def _directories(request: CreateTrainingJobRequest) -> tuple[str, ...]:
    """What the service makes empty: always the mounted ones, and one for each collector that is configured."""
    collectors = (
        (request.DebugHookConfig, paths.TENSORS),
        (request.TensorBoardOutputConfig, paths.TENSORBOARD),
    )
    asked = [config.LocalPath or default for config, default in collectors if config is not None]
    made = [path for path in map(container_path, asked) if not is_own_mount(path)]
    if request.CheckpointConfig is not None:
        path = container_path(request.CheckpointConfig.LocalPath)
        # A folder of its own is made by who fills it; the others are part of a folder that is mounted.
        made += [] if is_own_mount(path) else [path]
    return (*_MOUNTED, *made)


def _configuration(
    request: CreateTrainingJobRequest, host: Host, hosts: tuple[Host, ...], local: LocalSettings
) -> Mapping[str, bytes]:
    written = config_files(request, host, hosts, topology=local.Topology)
    return {f"{paths.CONFIG}/{name}": content for name, content in written.items()}


def _output(request: CreateTrainingJobRequest, local: LocalSettings, facts: Facts, name: str) -> OutputPlan:
    asked = request.OutputDataConfig
    compression = asked.CompressionType or "GZIP"
    remote = asked.S3OutputPath.startswith(("s3://", "https://"))
    base = asked.S3OutputPath.rstrip("/") if remote else f"file://{facts.output}"
    end = "model.tar.gz" if compression == "GZIP" else "model/"
    return OutputPlan(
        uri=asked.S3OutputPath,
        model_uri=f"{base}/{name}/output/{end}",
        directory=f"{facts.output.rstrip('/')}/{name}",
        compression=compression,
        merge_output=local.MergeOutput,
        publish=local.Publish and remote,
    )
