"""What a training job needs of this machine."""

from collections.abc import Iterator, Sequence
from typing import Final

from smlocal.jobs.planning.aspects.mirrored.plan import TENSORS
from smlocal.jobs.planning.workload import (
    AskedChannel,
    AskedCheckpoints,
    AskedFileSystem,
    AskedFolder,
    AskedOutput,
    AskedRule,
    ContainerFolders,
    Mode,
    StopPlan,
    Workload,
)
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import effective_mode
from smlocal.sagemaker.contract.model.request import AlgorithmSpecification, Channel, CreateTrainingJobRequest
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.contract.paths import container_path, is_own_mount, unusable
from smlocal.sagemaker.contract.requested import definitions_of, hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile, unsupported_request
from smlocal.sagemaker.simulated import faults_to_come, has_capacity
from smlocal.terms.checkpoints import overlap
from smlocal.terms.validation.violation import Path, Violation

FOLDERS: Final = ContainerFolders(
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


def workload_of(job: JobFile) -> Workload:
    """What the job needs. A folder of the request that the service would refuse is an error."""
    request = job.request
    resources, specification = request.ResourceConfig, request.AlgorithmSpecification
    if resources is None or specification is None or specification.TrainingImage is None:
        message = "validation requires ResourceConfig and a training image"
        raise AssertionError(message)
    _refuse_folders(job)
    output, compression = request.OutputDataConfig, request.OutputDataConfig.CompressionType
    checkpoints = request.CheckpointConfig
    return Workload(
        document=job.document,
        local=job.local,
        image=specification.TrainingImage,
        entrypoint=_words(specification.ContainerEntrypoint),
        command=_command(specification),
        hosts=hosts_of(resources),
        variables=request.Environment or {},
        folders=FOLDERS,
        code=paths.CODE,
        channels=tuple(
            _channel(each, ("InputDataConfig", index, "DataSource"), effective_mode(each, request))
            for index, each in enumerate(request.InputDataConfig or ())
        ),
        empty_source_fails=job.document.empty_source_fails,
        output=AskedOutput(uri=output.S3OutputPath, compression=compression or "GZIP", kms_key=output.KmsKeyId),
        checkpoints=None
        if checkpoints is None
        else AskedCheckpoints(
            uri=checkpoints.S3Uri,
            path=container_path(checkpoints.LocalPath),
            own_mount=is_own_mount(container_path(checkpoints.LocalPath)),
        ),
        mirrored=tuple(_mirrored(request)),
        rules=tuple(
            AskedRule(
                name=each.RuleConfigurationName,
                image=each.RuleEvaluatorImage,
                parameters=each.RuleParameters or {},
                local_path=each.LocalPath,
            )
            for each in request.DebugRuleConfigurations or ()
        ),
        metrics=definitions_of(job.raw),
        role=request.RoleArn or "",
        role_member="RoleArn",
        isolated=request.EnableNetworkIsolation is True,
        in_vpc=request.VpcConfig is not None,
        volume_gb=resources.VolumeSizeInGB,
        stop=_stop(job),
        has_instances=has_capacity(job),
        faults=tuple(faults_to_come(job)),
    )


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _command(specification: AlgorithmSpecification) -> tuple[str, ...] | None:
    """The arguments: those of the request, none with an entrypoint of the request, else `train`."""
    if specification.ContainerArguments is not None:
        return tuple(specification.ContainerArguments)
    return None if specification.ContainerEntrypoint is not None else ("train",)


def _channel(given: Channel, place: Path, mode: Mode) -> AskedChannel:
    name, source, mounted = given.ChannelName, given.DataSource.S3DataSource, given.DataSource.FileSystemDataSource
    if mounted is not None:
        return AskedChannel(
            name=name,
            place=(*place, "FileSystemDataSource", "FileSystemId"),
            uri=f"{mounted.FileSystemId}:{mounted.DirectoryPath}",
            target=paths.channel(name),
            mode="FileSystem",
            file_system=AskedFileSystem(
                system=mounted.FileSystemId,
                directory=mounted.DirectoryPath,
                writable=mounted.FileSystemAccessMode == "rw",
            ),
        )
    if source is None:
        message = "validation requires one of the two sources"
        raise AssertionError(message)
    return AskedChannel(
        name=name,
        place=(*place, "S3DataSource", "S3Uri"),
        uri=source.S3Uri,
        target=paths.channel(name),
        mode=mode,
        data_type=source.S3DataType,
        sharded=source.S3DataDistributionType == "ShardedByS3Key",
        groups=tuple(source.InstanceGroupNames or ()),
        record_io=given.RecordWrapperType == "RecordIO",
        gzip=given.CompressionType == "Gzip",
        seed=None if given.ShuffleConfig is None else given.ShuffleConfig.Seed,
        attributes=tuple(source.AttributeNames or ()) if source.S3DataType == "AugmentedManifestFile" else (),
    )


def _mirrored(request: CreateTrainingJobRequest) -> Iterator[AskedFolder]:
    for member, config, name, default, below, grows in (
        (
            "TensorBoardOutputConfig",
            request.TensorBoardOutputConfig,
            "tensorboard",
            paths.TENSORBOARD,
            "tensorboard-output",
            True,
        ),
        ("DebugHookConfig", request.DebugHookConfig, TENSORS, paths.TENSORS, "debug-output", False),
    ):
        if config is not None:
            path = container_path(config.LocalPath or default)
            yield AskedFolder(
                name=name,
                member=member,
                uri=config.S3OutputPath,
                path=path,
                own_mount=is_own_mount(path),
                below=below,
                kept_in=below,
                grows=grows,
            )


def _stop(job: JobFile) -> StopPlan:
    condition, retry, local = job.request.StoppingCondition, job.request.RetryStrategy, job.local
    return StopPlan(
        max_runtime=(condition.MaxRuntimeInSeconds if condition is not None else None) or DEFAULT_MAX_RUNTIME,
        max_wait=condition.MaxWaitTimeInSeconds if condition is not None else None,
        grace=local.StopGraceSeconds,
        peer_grace=local.PeerGraceSeconds,
        retries=retry.MaximumRetryAttempts if retry is not None else 0,
    )


def _refuse_folders(job: JobFile) -> None:
    """Folders that would hide others. Defaults do not overlap, so of two that do, one was given: the error names it."""
    request = job.request
    asked = (
        ("CheckpointConfig", request.CheckpointConfig, paths.CHECKPOINTS),
        ("TensorBoardOutputConfig", request.TensorBoardOutputConfig, paths.TENSORBOARD),
        ("DebugHookConfig", request.DebugHookConfig, paths.TENSORS),
    )
    before: list[tuple[str, str | None, str]] = []
    for member, config, default in asked:
        if config is None:
            continue
        given, path = config.LocalPath, container_path(config.LocalPath or default)
        why = None if given is None else unusable(given, code=job.local.Code is not None)
        if why is not None:
            _refuse(job, member, given, why)
        _refuse_overlap(job, (member, given, path), before)
        before.append((member, given, path))


def _refuse_overlap(
    job: JobFile, last: tuple[str, str | None, str], before: Sequence[tuple[str, str | None, str]]
) -> None:
    for other in before:
        (member, given, path), (whose, _, taken) = (last, other) if last[1] is not None else (other, last)
        why = overlap(path, taken, whose=whose)
        if why is not None:
            _refuse(job, member, given, why)


def _refuse(job: JobFile, member: str, given: str | None, why: str) -> None:
    text = f"{member}.LocalPath: {given} is refused: {why}"
    violation = Violation(path=(member, "LocalPath"), text=text)
    raise unsupported_request(job.document, [(f"{member}.LocalPath", violation)])
