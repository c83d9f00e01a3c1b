"""Makes the plan of a training job from the request and the facts. Pure: nothing here looks at the machine."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.jobs.planning.aspects.data_parallel.plan import DDP_ENABLED, ENABLED
from smlocal.jobs.planning.aspects.warm_pool.plan import WarmPoolPlan, pool_directory
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.planning.plan_job import HostContents, Named, named_there, plan_of
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import config_files, manifest, platform_variables
from smlocal.sagemaker.contract.identity import SESSION_NAME, instance_hostname, sagemaker_arn
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.contract.requested import matching_settings
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.training.facts import IN_ARN, NAME
from smlocal.sagemaker.training.notes import notes
from smlocal.terms.checkpoints import within
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact

if TYPE_CHECKING:
    from smlocal.jobs.data_parallel.package import search_paths
    from smlocal.sagemaker.training.data_parallel import data_parallel_of
else:
    search_paths = at_use("smlocal.jobs.data_parallel.package", "search_paths")
    data_parallel_of = at_use("smlocal.sagemaker.training.data_parallel", "data_parallel_of")

_EMPTY = (paths.CONFIG, paths.DATA, paths.MODEL, paths.OUTPUT_DATA, paths.METRICS, paths.PROFILER, paths.WARM_POOL)
"""Folders of every container that are empty at the start."""


def build_plan(job: JobFile, work: Workload, facts: Facts, *, name: str) -> JobPlan:
    """The plan of this request on this machine."""
    arn = sagemaker_arn(IN_ARN, name, region=facts.region, account=facts.account)
    named = Named(platform=NAME, name=name, arn=arn, request={"TrainingJobName": name, **job.raw}, session=SESSION_NAME)
    written = _manifests(work, facts)
    empty = _directories(work)
    named_here = named_there(work, facts.engines.first.place)
    variables = platform_variables(job_name=name, job_arn=arn, region=facts.region)

    def contents(host: Host) -> HostContents:
        return HostContents(
            hostname=instance_hostname(host.number, facts.region),
            directories=empty,
            files=_files(job.request, named_here, named_here.hosts[work.hosts.index(host)], written),
            variables=variables,
        )

    plan = plan_of(work, facts, named, contents)
    plan = replace(plan, warm_pool=_warm_pool(job, facts, plan))
    if work.local.DataParallel != "auto" or not {DDP_ENABLED, ENABLED}.isdisjoint(
        plan.request.get("HyperParameters") or {}
    ):
        plan = replace(plan, data_parallel=data_parallel_of(plan.request, work.local))
    if plan.data_parallel is not None:
        plan = replace(plan, hosts=tuple(_with_search_paths(host, facts) for host in plan.hosts))
    return replace(plan, notes=notes(plan, work))


def _warm_pool(job: JobFile, facts: Facts, plan: JobPlan) -> WarmPoolPlan | None:
    resources, mirrored = job.request.ResourceConfig, plan.mirrored
    seconds = resources.KeepAlivePeriodInSeconds if resources is not None else None
    if not seconds:
        return None
    inside = [each.local_path for each in mirrored.collectors]
    inside += [] if mirrored.checkpoints is None else [mirrored.checkpoints.local_path]
    own = facts.engines.first.shares_folders and not any(within(path, paths.WARM_POOL) for path in inside)
    return WarmPoolPlan(
        seconds=seconds,
        like=matching_settings(job.request, [host.host for host in plan.hosts]),
        directory=pool_directory(facts.job_directory, plan.name, facts.run_id) if own else "",
    )


def _with_search_paths(host: HostPlan, facts: Facts) -> HostPlan:
    image = facts.image.environment if facts.image is not None else {}
    return replace(host, environment={**host.environment, **search_paths(host.environment, image)})


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


def _directories(work: Workload) -> tuple[str, ...]:
    """The folders that are empty at the start. A folder with its own mount is made where it is filled."""
    asked = [each for each in (*work.mirrored, work.checkpoints) if each is not None]
    return (*_EMPTY, *(each.path for each in asked if not each.own_mount))


def _manifests(work: Workload, facts: Facts) -> dict[str, bytes]:
    """The manifests of the File mode channels, and of checkpoints, by path. They name the objects of all hosts."""
    listings = facts.inputs.listings
    written = {
        paths.channel_manifest(channel.name): manifest(listings[channel.name])
        for channel in work.channels
        if channel.mode == "File" and channel.name in listings
    }
    if facts.mirrored.checkpoints is not None:
        written.setdefault(paths.CHECKPOINTS_MANIFEST, manifest(facts.mirrored.checkpoints))
    return written


def _files(
    request: CreateTrainingJobRequest, work: Workload, host: Host, manifests: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """Config files, and the manifests of the channels that the host has."""
    absent = {paths.channel_manifest(each.name) for each in work.channels if not each.is_for(host)}
    local = work.local
    written = config_files(request, host, work.hosts, keys=local.ResourceConfigKeys, interface=local.NetworkInterface)
    return {
        **{f"{paths.CONFIG}/{name}": content for name, content in written.items()},
        **{path: content for path, content in manifests.items() if path not in absent},
    }
