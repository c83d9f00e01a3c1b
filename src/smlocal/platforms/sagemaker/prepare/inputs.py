"""Lists everything that a job reads, once, before the job is made."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from smlocal.contract.listing import Listing
from smlocal.contract.s3_uri import s3_form, split_s3_uri
from smlocal.contract.validation.member_path import Path
from smlocal.contract.validation.violation import Violation
from smlocal.errors import (
    CredentialsMissingError,
    PathInDescriptionError,
    S3UnreachableError,
    SourceEmptyError,
)
from smlocal.platforms.sagemaker.contract.checkpoint_paths import unusable
from smlocal.platforms.sagemaker.contract.documents.config_files import effective_mode
from smlocal.platforms.sagemaker.contract.model.request import Channel
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.jobfile.unsupported import unsupported_request
from smlocal.platforms.sagemaker.prepare.collector_folders import collector_folders
from smlocal.quick_dataclass import dataclass
from smlocal.sources.local_path import local_path
from smlocal.sources.mapping import is_remote, longest_match
from smlocal.sources.s3.interface import ObjectStore

_THIS_MACHINE = "file:///"
_CONNECT_SECONDS = 3.0
"""To connect to S3: a wrong endpoint should be reported soon."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """The listings."""

    listings: dict[str, Listing]
    """By channel name."""
    file_systems: dict[str, Listing]
    """By channel name: the local folder for the file system. Its files are not listed."""
    code: Listing | None
    checkpoints: Listing | None
    collectors: dict[str, str]
    """By member: the local folder for its S3OutputPath, if there is one."""
    sources: dict[str, str]
    """Local.Sources with absolute folders."""


def list_inputs(job: JobFile, *, strict: bool, region: str) -> Inputs:
    """List the channels, the code and the checkpoints. What CreateTrainingJob would refuse is an error."""
    listings, file_systems = {}, {}

    @cache
    def store() -> ObjectStore:
        from smlocal.sources.s3.client import open_store  # most jobs read nothing from S3

        return open_store(region, rights=job.local.rights, connect_seconds=_CONNECT_SECONDS)

    for index, channel in enumerate(job.request.InputDataConfig or ()):
        path: Path = ("InputDataConfig", index, "DataSource")
        if channel.DataSource.S3DataSource is not None:
            try:
                listings[channel.ChannelName] = _objects(job, channel, path, strict=strict, region=region, store=store)
            except SourceEmptyError as error:
                if not job.document.empty_source_fails:
                    raise
                listings[channel.ChannelName] = _no_objects(job, channel.DataSource.S3DataSource.S3Uri, error)
            except CredentialsMissingError as error:
                uri = channel.DataSource.S3DataSource.S3Uri.rstrip("/")
                raise CredentialsMissingError(
                    error.sentence,
                    details=error.details,
                    remedy=(*error.remedy, f"Or use a local folder, without AWS: --source {uri}=DIR"),
                ) from error
        elif channel.DataSource.FileSystemDataSource is not None:
            file_systems[channel.ChannelName] = _file_system(job, channel, path)
    directory, rights = job.document.directory, job.local.rights
    return Inputs(
        listings=listings,
        file_systems=file_systems,
        code=_code(job),
        checkpoints=_checkpoints(job, strict=strict, region=region, store=store),
        collectors=collector_folders(job),
        sources={
            uri: os.path.abspath(local_path(folder, directory, rights)) for uri, folder in job.local.Sources.items()
        },
    )


def _no_objects(job: JobFile, uri: str, error: SourceEmptyError) -> Listing:
    """The listing of a channel whose download fails because there is nothing to download."""
    match = longest_match(uri, job.local.Sources)
    folder = (None if is_remote(uri) else uri) if match is None else match.value
    in_s3 = error.sentence.startswith("No S3 objects found")
    bucket_uri, key = split_s3_uri(s3_form(uri)) if is_remote(uri) else (_THIS_MACHINE, uri.lstrip("/"))
    return Listing(
        root="" if folder is None else local_path(folder, job.document.directory, job.local.rights),
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=key[: key.rfind("/") + 1],
        paths=(),
        total_bytes=0,
        whole_tree=False,
        failure=error.sentence if in_s3 else f'No S3 objects found under S3 URL "{uri}" given in input data source.',
    )


def names_only_s3(job: JobFile, channel: Channel) -> bool:
    """Whether a manifest of the channel may name no files of this machine: in a description of a job of the service."""
    source = channel.DataSource.S3DataSource
    return job.document.elsewhere is not None and source is not None and is_remote(source.S3Uri)


def _where(job: JobFile, path: Path) -> str | None:
    line = job.document.line(path)
    return None if line is None else f"{job.document.name}:{line}"


def _objects(
    job: JobFile, channel: Channel, path: Path, *, strict: bool, region: str, store: Callable[[], ObjectStore]
) -> Listing:
    from smlocal.sources.channel import ChannelSource, list_channel

    source = channel.DataSource.S3DataSource
    if source is None:
        raise AssertionError(channel.ChannelName)
    listing = list_channel(
        ChannelSource(
            name=channel.ChannelName,
            uri=source.S3Uri,
            data_type=source.S3DataType,
            mode=effective_mode(channel, job.request),
            directory=job.document.directory,
            where=_where(job, (*path, "S3DataSource", "S3Uri")),
        ),
        mapping=job.local.Sources,
        strict=strict,
        region=region,
        role=job.request.RoleArn or "",
        store=store,
        rights=job.local.rights,
    )
    if listing.bucket_uri == _THIS_MACHINE and names_only_s3(job, channel):
        at = job.document.where((*path, "S3DataSource", "S3Uri"))
        raise PathInDescriptionError(
            f'the manifest of the channel "{channel.ChannelName}" names files of this machine',
            details=[f"{at}   {source.S3Uri}", f"its prefix: file:///{listing.prefix}"],
            remedy=[
                f"{job.document.name} is the description of a job of the service, where manifests name objects of S3.",
                "Correct the manifest, or give a folder of your own: --channel NAME=DIR.",
            ],
        )
    if job.local.Sample is None:
        return listing
    from smlocal.sources.sample import first_objects

    return first_objects(listing, job.local.Sample)


def _file_system(job: JobFile, channel: Channel, path: Path) -> Listing:
    from smlocal.sources.file_system import locate_file_system
    from smlocal.sources.source_errors import RequestedSource

    source = channel.DataSource.FileSystemDataSource
    if source is None:
        raise AssertionError(channel.ChannelName)
    system = RequestedSource(
        subject=f'channel "{channel.ChannelName}"',
        member="FileSystemId",
        uri=source.FileSystemId,
        where=_where(job, (*path, "FileSystemDataSource", "FileSystemId")),
        directory=job.document.directory,
        rights=job.local.rights,
    )
    asked = replace(system, member="DirectoryPath", uri=source.DirectoryPath)
    folder = locate_file_system(system, asked, mapping=job.local.Sources)
    return Listing(
        root=folder, bucket_uri=_THIS_MACHINE, prefix="", key_base="", paths=(), total_bytes=None, whole_tree=True
    )


def _code(job: JobFile) -> Listing | None:
    if job.local.Code is None:
        return None
    from smlocal.sources.local_listing import list_folder

    return list_folder(
        job.local.Code,
        subject="the code",
        member="Local.Code",
        directory=job.document.directory,
        where=_where(job, ("Local", "Code")),
        rights=job.local.rights,
    )


def _checkpoints(job: JobFile, *, strict: bool, region: str, store: Callable[[], ObjectStore]) -> Listing | None:
    """The objects or files below the checkpoint prefix, if the job has checkpoints."""
    config = job.request.CheckpointConfig
    if config is None:
        return None
    why = unusable(config.LocalPath, code=job.local.Code is not None)
    if why is not None:
        member, at = "CheckpointConfig.LocalPath", ("CheckpointConfig", "LocalPath")
        text = f"{member}: {config.LocalPath} is refused: {why}"
        raise unsupported_request(job.document, [(member, Violation(path=at, text=text))])
    from smlocal.sources.checkpoints import InS3, list_checkpoints
    from smlocal.sources.source_errors import Caller

    try:
        return list_checkpoints(
            config.S3Uri,
            member="CheckpointConfig.S3Uri",
            directory=job.document.directory,
            mapping=job.local.Sources,
            strict=strict,
            where=_where(job, ("CheckpointConfig", "S3Uri")),
            in_s3=InS3(store=store, caller=Caller(region=region, role=job.request.RoleArn or "")),
            rights=job.local.rights,
        )
    except (CredentialsMissingError, S3UnreachableError, SourceEmptyError) as error:
        uri = config.S3Uri.rstrip("/")
        where = f"{_where(job, ('CheckpointConfig', 'S3Uri')) or job.document.name}   CheckpointConfig.S3Uri: {uri}"
        raise type(error)(
            error.sentence,
            details=error.details if uri in "".join(error.details) else (*error.details, where),
            remedy=(
                *error.remedy,
                f"Or keep the checkpoints in a local folder, without AWS: --source {uri}=DIR",
                "An empty folder begins without checkpoints.",
            ),
        ) from error
