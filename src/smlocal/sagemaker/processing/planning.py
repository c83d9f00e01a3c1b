"""From a validated processing job to its plan, with its notes and its files in /opt/ml/config.

Also recording a job that is started in a process of its own.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.engine.engines import Engines
from smlocal.jobs import looking
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.inputs.show import INPUT_RULES, inputs
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.jobs.planning.note_rule import RareRules, notes_of, some
from smlocal.jobs.planning.plan_job import HostContents, Named, named_there, plan_of
from smlocal.jobs.planning.workload import Workload
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract.identity import SESSION_NAME, instance_hostname, sagemaker_arn
from smlocal.sagemaker.contract.model.processing import ProcessingInput, ProcessingOutput
from smlocal.sagemaker.general_notes import GENERAL_RULES
from smlocal.sagemaker.place import arn_of, check_host_count, place_of
from smlocal.sagemaker.processing import facts as kind
from smlocal.sagemaker.processing.job_file import ProcessingFile
from smlocal.sagemaker.processing.members import MEMBERS
from smlocal.sagemaker.processing.workload import check_outputs, workload_of
from smlocal.sagemaker.simulated import refuse_above_limit
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact

if TYPE_CHECKING:
    from smlocal.jobs.planning.aspects.debugging.show import DEBUG_RULES
    from smlocal.jobs.planning.aspects.mirrored.show import MIRRORED_RULES
    from smlocal.jobs.submission.scheduler import WaitingJob
else:
    WaitingJob = at_use("smlocal.jobs.submission.scheduler", "WaitingJob")
    DEBUG_RULES = at_use("smlocal.jobs.planning.aspects.debugging.show", "DEBUG_RULES")
    MIRRORED_RULES = at_use("smlocal.jobs.planning.aspects.mirrored.show", "MIRRORED_RULES")

_NOTE_RULES = (
    *INPUT_RULES,
    *GPU_RULES,
    *LIMIT_RULES,
    *CREDENTIAL_RULES,
    RareRules(when=lambda plan, _: not plan.mirrored.empty, rules=MIRRORED_RULES),
    *GENERAL_RULES,
    *ENGINE_RULES,
    *NETWORK_RULES,
    RareRules(when=lambda plan, _: plan.debug, rules=DEBUG_RULES),
)


def prepare(
    job: ProcessingFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the job is made. Mistakes are an error.

    `run_id`: of a job that is already recorded.
    """
    check_outputs(job)  # before the image is pulled
    check_host_count(job.instances[1], most=job.local.MaxHosts)
    work = workload_of(job)
    if run_id is None:
        refuse_above_limit(work)
    place = place_of(work, name=name, home=home, engines=engines, run_id=run_id)
    return looking.prepare(
        work,
        place,
        partial(build_plan, job, work, name=name),
        reporter=reporter,
        strict=strict,
        job=job.document.record(),
    )


def plan_job(job: ProcessingFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    check_host_count(job.instances[1], most=None)
    work = workload_of(job)
    place = place_of(work, name=name, home=home, engines=engines)
    return looking.only_plan(work, place, partial(build_plan, job, work, name=name), strict=strict)


def build_plan(job: ProcessingFile, work: Workload, facts: Facts, *, name: str) -> JobPlan:
    """The plan of this request on this machine."""
    hosts = named_there(work, facts.engines.first.place).hosts
    arn = sagemaker_arn(kind.IN_ARN, name, region=facts.region, account=facts.account)
    request = {"ProcessingJobName": name, **job.raw}
    named = Named(platform=kind.NAME, name=name, arn=arn, request=request, session=SESSION_NAME)
    folders = (
        *(kind.CONFIG, kind.OUTPUT, kind.PROCESSING),
        *(each.path for each in job.outputs),
        *(os.path.dirname(each.path) for each in job.inputs if each.pipe),
    )

    def contents(host: Host) -> HostContents:
        return HostContents(
            hostname=instance_hostname(host.number, facts.region),
            directories=folders,
            files=config_files(job, hosts[work.hosts.index(host)], hosts, name=name, arn=arn),
            variables={"AWS_REGION": facts.region},
        )

    plan = plan_of(work, facts, named, contents)
    return replace(plan, notes=notes(plan, job, work))


def notes(plan: JobPlan, job: ProcessingFile, work: Workload) -> tuple[Note, ...]:
    """Every note that applies."""
    return notes_of(_NOTE_RULES, plan, work, _own_notes(plan, job))


def _own_notes(plan: JobPlan, job: ProcessingFile) -> Iterator[tuple[str, str]]:
    collectors = plan.mirrored.collectors
    if "ProcessingJobName" not in job.raw:
        yield "relaxed-name", "ProcessingJobName is missing; the service requires it"
    for each in job.inputs:
        if each.query:
            folder = next((found.listing.root for found in inputs(plan) if found.name == each.name), "")
            text = f"no {each.query} query is run, and the files are not checked"
            yield "dataset-folder", f"the input {each.name} is the folder {folder}: {text}"
    uris = [*(each.uri for each in inputs(plan)), *(each.uri for each in collectors)]
    if local := [uri for uri in uris if not uri.startswith(("s3://", "https://"))]:
        yield "relaxed-uri", f"local paths are used where the service requires s3:// URIs ({some(local)})"
    elsewhere = [
        f"{each.uri} in {each.directory}"
        for each in collectors
        if each.s3_prefix is None and each.uri.startswith(("s3://", "https://"))
    ]
    if elsewhere:
        yield "output-local", f"nothing is written to S3: {some(elsewhere)}"
    recorded = [name for name in MEMBERS.recorded(job.raw) if name not in {"RoleArn", "NetworkConfig.VpcConfig"}]
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"


def config_files(job: ProcessingFile, host: Host, hosts: Sequence[Host], *, name: str, arn: str) -> dict[str, bytes]:
    """The files in /opt/ml/config by their paths, for the container of one host."""
    return {
        f"{kind.CONFIG}/processingjobconfig.json": compact(_job_config(job, name=name, arn=arn)),
        f"{kind.CONFIG}/resourceconfig.json": compact(
            {"current_host": host.name, "hosts": sorted(each.name for each in hosts)}
        ),
    }


def _job_config(job: ProcessingFile, *, name: str, arn: str) -> dict[str, Any]:
    """With the members and the order of the developer guide, and null for those that are not given."""
    request = job.request
    app, config = request.AppSpecification, request.ProcessingOutputConfig
    resources = request.ProcessingResources
    cluster = None if resources is None else resources.ClusterConfig
    instance_type, count = job.instances
    network = request.NetworkConfig
    return {
        "ProcessingJobArn": arn,
        "ProcessingJobName": name,
        "AppSpecification": {
            "ImageUri": app.ImageUri,
            "ContainerEntrypoint": app.ContainerEntrypoint,
            "ContainerArguments": app.ContainerArguments,
        },
        "Environment": dict(request.Environment or {}),
        "ProcessingInputs": [_input_document(each) for each in request.ProcessingInputs or ()],
        "ProcessingOutputConfig": {
            "Outputs": [] if config is None else [_output_document(each) for each in config.Outputs],
            "KmsKeyId": None if config is None else config.KmsKeyId,
        },
        "ProcessingResources": {
            "ClusterConfig": {
                "InstanceCount": count,
                "InstanceType": instance_type,
                "VolumeSizeInGB": job.volume_gb,
                "VolumeKmsKeyId": None if cluster is None else cluster.VolumeKmsKeyId,
            }
        },
        **({} if network is None else {"NetworkConfig": network.plain()}),
        "RoleArn": request.RoleArn,
        "StoppingCondition": {"MaxRuntimeInSeconds": job.max_runtime},
    }


def _input_document(given: ProcessingInput) -> dict[str, Any]:
    source = given.S3Input
    if source is None:
        return given.plain()
    return {
        "InputName": given.InputName,
        **({"AppManaged": True} if given.AppManaged else {}),
        "S3Input": {
            "LocalPath": source.LocalPath,
            "S3Uri": source.S3Uri,
            "S3DataDistributionType": source.S3DataDistributionType or "FullyReplicated",
            "S3DataType": source.S3DataType or "S3Prefix",
            "S3InputMode": source.S3InputMode or "File",
            "S3CompressionType": source.S3CompressionType or "None",
            "S3DownloadMode": "StartOfJob",
        },
    }


def _output_document(given: ProcessingOutput) -> dict[str, Any]:
    target = given.S3Output
    if target is None:
        return given.plain()
    return {
        "OutputName": given.OutputName,
        **({"AppManaged": True} if given.AppManaged else {}),
        "S3Output": {
            "LocalPath": target.LocalPath,
            "S3Uri": target.S3Uri,
            "S3UploadMode": target.S3UploadMode or "EndOfJob",
        },
    }


def waiting_job(job: ProcessingFile, name: str) -> WaitingJob:
    """What is recorded of a validated job. Folders that cannot be used are an error."""
    check_outputs(job)
    work = workload_of(job)
    count = len(work.hosts)
    return WaitingJob(
        platform=kind.NAME,
        arn=arn_of(work, kind.IN_ARN, name),
        request={"ProcessingJobName": name, **job.raw},
        job={**job.document.record(), STRICT: False},
        instances=count,
        needs=((work.hosts[0].instance_type, count),),
    )
