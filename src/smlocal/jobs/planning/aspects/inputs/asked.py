"""How each channel of a request, and the code, is delivered to each host, and which of its objects."""

from smlocal.engine.facts import EngineFacts
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts, PipePlan, TreePlan, choose_staging
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import channels_of, effective_mode, is_for, manifest
from smlocal.sagemaker.contract.model.request import Channel, CreateTrainingJobRequest
from smlocal.terms.hosts import Host
from smlocal.terms.listing import WHOLE, Listing, Shard

_AUGMENTED = "AugmentedManifestFile"


def trees_of(
    request: CreateTrainingJobRequest,
    host: Host,
    hosts: tuple[Host, ...],
    *,
    local: LocalSettings,
    facts: InputFacts,
    engine: EngineFacts,
) -> tuple[TreePlan, ...]:
    """The channels that are folders on one host."""
    return tuple(
        _tree(
            channel,
            effective_mode(channel, request),
            _shard(channel, host, hosts),
            local=local,
            facts=facts,
            engine=engine,
        )
        for channel in channels_of(request, host)
        if effective_mode(channel, request) != "Pipe"
    )


def pipes_of(
    request: CreateTrainingJobRequest, host: Host, hosts: tuple[Host, ...], *, local: LocalSettings, facts: InputFacts
) -> tuple[PipePlan, ...]:
    """The Pipe channels of one host."""
    return tuple(
        _pipe(channel, _shard(channel, host, hosts), local, facts)
        for channel in channels_of(request, host)
        if effective_mode(channel, request) == "Pipe"
    )


def manifests(request: CreateTrainingJobRequest, facts: InputFacts) -> dict[str, bytes]:
    """The manifests of the File mode channels by path. They name the objects of all hosts."""
    return {
        paths.channel_manifest(channel.ChannelName): manifest(facts.listings[channel.ChannelName])
        for channel in request.InputDataConfig or ()
        if effective_mode(channel, request) == "File" and channel.ChannelName in facts.listings
    }


def _shard(channel: Channel, host: Host, hosts: tuple[Host, ...]) -> Shard:
    source = channel.DataSource.S3DataSource
    if source is None or source.S3DataDistributionType != "ShardedByS3Key":
        return WHOLE
    names = [each.name for each in hosts if is_for(channel, each)]
    return Shard(index=names.index(host.name), count=len(names))


def _tree(
    channel: Channel, mode: str, shard: Shard, *, local: LocalSettings, facts: InputFacts, engine: EngineFacts
) -> TreePlan:
    name, file_system = channel.ChannelName, channel.DataSource.FileSystemDataSource
    target = paths.channel(name)
    if file_system is not None:
        return TreePlan(
            name=name,
            uri=f"{file_system.FileSystemId}:{file_system.DirectoryPath}",
            target=target,
            listing=facts.file_systems[name],
            staging="bind",
            reason=None,
            mode="FileSystem",
            writable=file_system.FileSystemAccessMode == "rw",
        )
    source = channel.DataSource.S3DataSource
    listing = facts.listings[name].dealt_to(shard)
    fast = mode == "FastFile"
    staging, reason = choose_staging(
        listing,
        local.Staging,
        fast_file=fast,
        no_fuse=facts.no_fuse,
        shared=engine.shares_folders,
        rootless=engine.rootless,
    )
    return TreePlan(
        name=name,
        uri=source.S3Uri if source is not None else "",
        target=target,
        listing=listing,
        staging=staging,
        reason=reason,
        mode=mode,
        writable=not fast,
    )


def _pipe(channel: Channel, shard: Shard, local: LocalSettings, facts: InputFacts) -> PipePlan:
    source = channel.DataSource.S3DataSource
    if source is None:
        message = "validation refuses file systems in Pipe mode"
        raise AssertionError(message)
    augmented = source.S3DataType == _AUGMENTED
    return PipePlan(
        name=channel.ChannelName,
        uri=source.S3Uri,
        target=paths.channel(channel.ChannelName),
        listing=facts.listings[channel.ChannelName],
        shard=shard,
        record_io=channel.RecordWrapperType == "RecordIO",
        gzip=channel.CompressionType == "Gzip",
        seed=None if channel.ShuffleConfig is None else channel.ShuffleConfig.Seed,
        attributes=tuple(source.AttributeNames or ()) if augmented else (),
        sources=facts.sources,
        rights=local.rights,
        lines=local.Sample if augmented else None,
        names_files=channel.ChannelName not in facts.only_s3,
    )


def code_of(code: Listing | None, engine: EngineFacts, local: LocalSettings) -> TreePlan | None:
    """The content of `/opt/ml/code`; None without Local.Code."""
    if code is None:
        return None
    staging, reason = choose_staging(code, local.Staging, shared=engine.shares_folders, rootless=engine.rootless)
    uri = local.Code or ""
    return TreePlan(name="code", uri=uri, target=paths.CODE, listing=code, staging=staging, reason=reason)
