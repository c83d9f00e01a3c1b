"""From a validated processing job to its plan: that of the equal training job, with its own contents.

These are its notes and its files in /opt/ml/config. Also recording a job that is started in a process of its own.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from smlocal.engine.engines import Engines
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.debugging.show import DEBUG_RULES
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.inputs.plan import HostInputs
from smlocal.jobs.planning.aspects.inputs.show import INPUT_RULES, inputs
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredPlan
from smlocal.jobs.planning.aspects.mirrored.show import MIRRORED_RULES
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.model import ContainerFolders, HostPlan, JobPlan, Note
from smlocal.jobs.planning.note_rule import some
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.submission.recording import WaitingJob
from smlocal.jobs.view import Reporter
from smlocal.sagemaker import prepare as training
from smlocal.sagemaker.contract.identity import sagemaker_arn
from smlocal.sagemaker.contract.model.processing import ProcessingInput, ProcessingOutput
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.notes import GENERAL_RULES, notes_of
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.equal_training_job import equal_training_job
from smlocal.sagemaker.processing.job_file import ProcessingFile
from smlocal.sagemaker.processing.members import MEMBERS
from smlocal.sagemaker.processing.outputs import collectors_of
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact

_NOTE_RULES = (
    *INPUT_RULES,
    *GPU_RULES,
    *LIMIT_RULES,
    *CREDENTIAL_RULES,
    *MIRRORED_RULES,
    *GENERAL_RULES,
    *ENGINE_RULES,
    *NETWORK_RULES,
    *DEBUG_RULES,
)
_FOLDERS: Final = ContainerFolders(
    root=facts.ROOT,
    input=facts.CONFIG,
    data=facts.PROCESSING,
    model="",
    output=facts.OUTPUT,
    output_data="",
    failure=facts.MESSAGE,
)
_OF_TRAINING: Final = frozenset(
    {
        *("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "DMLC_INTERFACE", "SAGEMAKER_METRICS_DIRECTORY"),
        "SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY",
    }
)
"""Variables that no processing container has, unless its request says so."""


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
    equal = equal_training_job(job)
    collectors_of(job, directory="")  # folders that cannot be used are an error before the image is pulled
    prepared = training.prepare(
        equal, name=name, home=home, engines=engines, reporter=reporter, strict=strict, run_id=run_id
    )
    return replace(prepared, plan=as_processing(prepared.plan, job, equal), job=job.document.record())


def plan_job(job: ProcessingFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    equal = equal_training_job(job)
    plan = training.plan_job(equal, name=name, home=home, engines=engines, strict=strict)
    return as_processing(plan, job, equal)


def as_processing(plan: JobPlan, job: ProcessingFile, equal: JobFile) -> JobPlan:
    """The plan of a processing job from that of the training job that needs the same."""
    identity, app, config = plan.identity, job.request.AppSpecification, job.request.ProcessingOutputConfig
    arn = sagemaker_arn(facts.IN_ARN, plan.name, region=identity.region, account=identity.account)
    planned = replace(
        plan,
        platform=facts.NAME,
        request={"ProcessingJobName": plan.name, **job.raw},
        identity=replace(identity, arn=arn),
        image=replace(
            plan.image,
            entrypoint=None if app.ContainerEntrypoint is None else tuple(app.ContainerEntrypoint),
            command=None if app.ContainerArguments is None else tuple(app.ContainerArguments),
        ),
        folders=_FOLDERS,
        hosts=tuple(_host(plan, host, job, arn) for host in plan.hosts),
        output=replace(
            plan.output, uri="", model_uri="", publish=False, kms_key=None if config is None else config.KmsKeyId
        ),
        mirrored=MirroredPlan(collectors=collectors_of(job, directory=plan.output.directory)),
    )
    return replace(planned, notes=notes(planned, job, equal))


def _host(plan: JobPlan, host: HostPlan, job: ProcessingFile, arn: str) -> HostPlan:
    targets = {each.name: each.path for each in job.inputs}
    pipes = tuple(replace(each, target=targets[each.name]) for each in host.inputs.pipes)
    folders = [facts.OUTPUT, facts.PROCESSING, *(each.path for each in job.outputs)]
    requested = job.request.Environment or {}
    return replace(
        host,
        directories=(facts.CONFIG, *folders, *(os.path.dirname(each.target) for each in pipes)),
        files=config_files(job, host.host, [each.host for each in plan.hosts], name=plan.name, arn=arn),
        environment={
            name: value for name, value in host.environment.items() if name in requested or name not in _OF_TRAINING
        },
        inputs=HostInputs(
            trees=tuple(replace(each, target=targets[each.name]) for each in host.inputs.trees), pipes=pipes
        ),
    )


def notes(plan: JobPlan, job: ProcessingFile, equal: JobFile) -> tuple[Note, ...]:
    """Every note that applies. `equal`: the training job that needs the same."""
    return notes_of(_NOTE_RULES, plan, equal, _own_notes(plan, job))


def _own_notes(plan: JobPlan, job: ProcessingFile) -> Iterator[tuple[str, str]]:
    collectors = plan.mirrored.collectors
    if "ProcessingJobName" not in job.raw:
        yield "relaxed-name", "ProcessingJobName is missing; the service requires it"
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
        f"{facts.CONFIG}/processingjobconfig.json": compact(_job_config(job, name=name, arn=arn)),
        f"{facts.CONFIG}/resourceconfig.json": compact(
            {"current_host": host.name, "hosts": sorted(each.name for each in hosts)}
        ),
    }


def _job_config(job: ProcessingFile, *, name: str, arn: str) -> dict[str, Any]:
    """With the members and the order of the developer guide, and null for those that are not given."""
    request = job.request
    app, config = request.AppSpecification, request.ProcessingOutputConfig
    resources = request.ProcessingResources
    cluster = None if resources is None else resources.ClusterConfig
    kind, count = job.instances
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
                "InstanceType": kind,
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
    equal = equal_training_job(job)
    collectors_of(job, directory="")
    kind, count = job.instances
    return WaitingJob(
        platform=facts.NAME,
        arn=sagemaker_arn(facts.IN_ARN, name, region=region_of(equal), account=account_of(equal)),
        request={"ProcessingJobName": name, **job.raw},
        job={**job.document.record(), STRICT: False},
        instances=count,
        needs=((kind, count),),
    )
