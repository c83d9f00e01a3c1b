"""The files that a processing container finds in /opt/ml/config."""

from collections.abc import Sequence
from typing import Any

from smlocal.jobs.contract.hosts import Host
from smlocal.jobs.contract.json_size import compact
from smlocal.sagemaker.contract.model.processing import ProcessingInput, ProcessingOutput
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.job_file import ProcessingFile


def config_files(job: ProcessingFile, host: Host, hosts: Sequence[Host], *, name: str, arn: str) -> dict[str, bytes]:
    """By their paths in the container of one host."""
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
        "ProcessingInputs": [_input(each) for each in request.ProcessingInputs or ()],
        "ProcessingOutputConfig": {
            "Outputs": [] if config is None else [_output(each) for each in config.Outputs],
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


def _input(given: ProcessingInput) -> dict[str, Any]:
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


def _output(given: ProcessingOutput) -> dict[str, Any]:
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
