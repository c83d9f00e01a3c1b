"""The files that a container finds: JSON in `/opt/ml/input/config`, byte for byte, manifests, and variables."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.hosts import INTERFACE, ResourceConfigKeys, resource_config
from smlocal.sagemaker.contract.model.request import Channel, CreateTrainingJobRequest, FileSystemDataSource
from smlocal.sagemaker.contract.model.shapes import TrainingInputMode
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact
from smlocal.terms.listing import Listing

_INTERNAL_SPELLING = {
    None: None,
    "S3Prefix": "S3_PREFIX",
    "ManifestFile": "MANIFEST_FILE",
    "AugmentedManifestFile": "AUGMENTED_MANIFEST_FILE",
    "Converse": "CONVERSE",
    "FullyReplicated": "FULLY_REPLICATED",
    "ShardedByS3Key": "SHARDED_BY_S3_KEY",
    "None": "NONE",
    "Gzip": "GZIP",
    "RecordIO": "RECORD_IO",
    "File": "FILE",
    "FastFile": "FAST_FILE",
    "Pipe": "PIPE",
}


def config_files(
    request: CreateTrainingJobRequest,
    host: Host,
    hosts: Sequence[Host],
    *,
    keys: ResourceConfigKeys = "newest",
    interface: str = INTERFACE,
) -> dict[str, bytes]:
    """The config files of one host by name; `keys` and `interface` are for `resourceconfig.json`."""
    documents: dict[str, Any] = {
        "hyperparameters.json": request.HyperParameters or {},
        "inputdataconfig.json": input_data_config(request, host),
        "resourceconfig.json": resource_config(host, hosts, keys=keys, interface=interface),
        "init-config.json": _init_config(request, host, hosts),
        "metric-definition-regex.json": _metric_definitions(request),
    }
    if request.CheckpointConfig is not None:
        documents["checkpointconfig.json"] = {"LocalPath": request.CheckpointConfig.LocalPath or paths.CHECKPOINTS}
    if (hook := request.DebugHookConfig) is not None:
        collections = hook.CollectionConfigurations
        documents["debughookconfig.json"] = {
            "S3OutputPath": hook.S3OutputPath,
            "LocalPath": hook.LocalPath or paths.TENSORS,
            "HookParameters": hook.HookParameters,
            "CollectionConfigurations": None
            if collections is None
            else [collection.plain() for collection in collections],
        }
    if (profiler := request.ProfilerConfig) is not None and not profiler.DisableProfiler:
        documents["profilerconfig.json"] = {
            "ProfilingIntervalInMilliseconds": profiler.ProfilingIntervalInMilliseconds,
            "ProfilingParameters": profiler.ProfilingParameters,
            "S3OutputPath": profiler.S3OutputPath,
        }
    if (board := request.TensorBoardOutputConfig) is not None:
        documents["tensorboardoutputconfig.json"] = {
            "S3OutputPath": board.S3OutputPath,
            "LocalPath": board.LocalPath or f"{paths.TENSORBOARD}/",
        }
    return {name: compact(document) for name, document in documents.items()}


def input_data_config(request: CreateTrainingJobRequest, host: Host) -> dict[str, dict[str, str]]:
    """The content of `inputdataconfig.json`: four keys for each channel of the host."""
    return {channel.ChannelName: _channel(channel, request) for channel in channels_of(request, host)}


def channels_of(request: CreateTrainingJobRequest, host: Host) -> list[Channel]:
    """The channels of a host: those of all hosts, and those of its instance group."""
    return [channel for channel in request.InputDataConfig or () if is_for(channel, host)]


def is_for(channel: Channel, host: Host) -> bool:
    """False for a channel of other instance groups."""
    source = channel.DataSource.S3DataSource
    groups = source.InstanceGroupNames if source is not None else None
    return not groups or host.group in groups


def effective_mode(channel: Channel, request: CreateTrainingJobRequest) -> TrainingInputMode:
    """The channel's own input mode, else the job's."""
    specification = request.AlgorithmSpecification
    return channel.InputMode or (specification.TrainingInputMode if specification is not None else "File")


def _channel(channel: Channel, request: CreateTrainingJobRequest) -> dict[str, str]:
    source = channel.DataSource.S3DataSource
    content_type = {} if channel.ContentType is None else {"ContentType": channel.ContentType}
    return {
        **content_type,
        "TrainingInputMode": effective_mode(channel, request),
        "S3DistributionType": (source.S3DataDistributionType if source is not None else None) or "FullyReplicated",
        "RecordWrapperType": channel.RecordWrapperType or "None",
    }


def _metric_definitions(request: CreateTrainingJobRequest) -> list[Mapping[str, str]]:
    specification = request.AlgorithmSpecification
    definitions = specification.MetricDefinitions if specification is not None else None
    return [{"Name": definition.Name, "Regex": definition.Regex} for definition in definitions or ()]


def _init_config(request: CreateTrainingJobRequest, host: Host, hosts: Sequence[Host]) -> Mapping[str, Any]:
    """The content of the platform's own file. No known program reads it."""
    specification = request.AlgorithmSpecification
    return {
        "inputMode": _INTERNAL_SPELLING[specification.TrainingInputMode if specification is not None else "File"],
        "channels": {c.ChannelName: _init_channel(c, request) for c in channels_of(request, host)},
        "checkpointChannel": _checkpoint_channel(request),
        "hostConfig": {"clusterSize": len(hosts), "hostNumber": host.number},
        "enableAdditionalPlatformLoggingForCustomer": False,
        "jobRunInfo": {"jobRunNumber": 1},
    }


def _checkpoint_channel(request: CreateTrainingJobRequest) -> Mapping[str, Any] | None:
    config = request.CheckpointConfig
    if config is None:
        return None
    source = {"s3DataType": "S3_PREFIX", "s3Uri": config.S3Uri, "s3DataDistributionType": None, "attributeNames": None}
    return {
        "name": "checkpoints",
        "channel": {
            "s3DataSource": source,
            "fileSystemDataSource": None,
            "compressionType": None,
            "recordWrapper": None,
            "shuffleConfig": None,
            "inputMode": "FILE",
            "sharded": False,
        },
        "outputPath": config.LocalPath or paths.CHECKPOINTS,
        "allowEmpty": True,
    }


def _init_channel(channel: Channel, request: CreateTrainingJobRequest) -> Mapping[str, Any]:
    source = channel.DataSource.S3DataSource
    file_system = channel.DataSource.FileSystemDataSource
    distribution = source.S3DataDistributionType if source is not None else None
    return {
        "s3DataSource": None
        if source is None
        else {
            "s3DataType": _INTERNAL_SPELLING[source.S3DataType],
            "s3Uri": source.S3Uri,
            "s3DataDistributionType": _INTERNAL_SPELLING[distribution or "FullyReplicated"],
            "attributeNames": source.AttributeNames,
        },
        "fileSystemDataSource": None if file_system is None else _init_file_system(file_system),
        "compressionType": _INTERNAL_SPELLING[channel.CompressionType or "None"],
        "recordWrapper": _INTERNAL_SPELLING[channel.RecordWrapperType or "None"],
        "shuffleConfig": None if channel.ShuffleConfig is None else {"seed": channel.ShuffleConfig.Seed},
        "inputMode": _INTERNAL_SPELLING[effective_mode(channel, request)],
        "sharded": distribution == "ShardedByS3Key",
    }


def _init_file_system(source: FileSystemDataSource) -> Mapping[str, Any]:
    return {
        "fileSystemId": source.FileSystemId,
        "fileSystemType": source.FileSystemType,
        "fileSystemAccessMode": source.FileSystemAccessMode,
        "directoryPath": source.DirectoryPath,
    }


# `<channel>-manifest`: the list of objects that the service puts next to a File mode channel.

_AT_ONCE = 10_000


def manifest(listing: Listing) -> bytes:
    """Line 1 is the key prefix, each further line the URI of an object, in listing order."""
    written = BytesIO()
    written.write(_encoded(f"{listing.prefix}\n"))
    start = listing.bucket_uri if listing.keys else f"{listing.bucket_uri}{listing.key_base}"
    names = listing.keys or listing.paths
    for first in range(0, len(names), _AT_ONCE):
        written.write(_encoded("".join([f"{start}{name}\n" for name in names[first : first + _AT_ONCE]])))
    return written.getvalue()  # no copy of the buffer: there may be a million names


def _encoded(text: str) -> bytes:
    # File names are bytes and need not be UTF-8.
    return text.encode(errors="surrogateescape")


# The environment variables that the service sets in a container, without those that toolkits add later.


def platform_variables(*, job_name: str, job_arn: str, region: str) -> dict[str, str]:
    """Those of one container, without the request's, which override them.

    There is no `SM_*`: the service does not set it, so an image that relies on it must fail.
    """
    return {
        "TRAINING_JOB_NAME": job_name,
        "TRAINING_JOB_ARN": job_arn,
        "AWS_REGION": region,
        "DMLC_INTERFACE": INTERFACE,
        "SAGEMAKER_METRICS_DIRECTORY": paths.METRICS,
        "SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY": paths.WARM_POOL,
    }
