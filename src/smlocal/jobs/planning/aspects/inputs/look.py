"""Lists everything that a job reads, once, before the job is made, and finds how its engines can read it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.data.sources.channel import ChannelSource, list_channel
from smlocal.data.sources.local_listing import list_folder, locate_file_system
from smlocal.data.sources.local_path import is_remote, local_path, longest_match
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.data.sources.selection import first_objects
from smlocal.data.sources.source_errors import RequestedSource
from smlocal.engine.facts import EngineFacts
from smlocal.errors import (
    CredentialsMissingError,
    EngineRemoteError,
    PathInDescriptionError,
    PipeUnreachableError,
    SourceEmptyError,
)
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.planning.aspects.engines.look import PlacedEngines
from smlocal.jobs.planning.aspects.engines.look_folders import (
    engines_with_other_mounts,
    is_folder_seen,
    is_listing_seen,
)
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.sagemaker.contract.documents.config_files import effective_mode
from smlocal.sagemaker.contract.model.request import Channel
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.terms.listing import Listing, s3_form, split_s3_uri
from smlocal.terms.model.structure import is_local_path
from smlocal.terms.validation.violation import Path

_THIS_MACHINE = "file:///"
_CONNECT_SECONDS = 3.0
"""To connect to S3: a wrong endpoint should be reported soon."""


def store_of(job: JobFile, region: str) -> Callable[[], ObjectStore]:
    """Opens S3 when something is to be listed there."""

    @cache
    def store() -> ObjectStore:
        from smlocal.data.sources.s3.client import open_store  # most jobs read nothing from S3

        return open_store(region, rights=job.local.rights, connect_seconds=_CONNECT_SECONDS)

    return store


def list_inputs(job: JobFile, *, strict: bool, region: str, store: Callable[[], ObjectStore]) -> InputFacts:
    """List the channels and the code. What CreateTrainingJob would refuse is an error."""
    listings, file_systems = {}, {}
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
    return InputFacts(
        listings=listings,
        file_systems=file_systems,
        code=_code(job),
        sources={
            uri: os.path.abspath(local_path(folder, directory, rights)) for uri, folder in job.local.Sources.items()
        },
        only_s3=frozenset(each.ChannelName for each in job.request.InputDataConfig or () if _names_only_s3(job, each)),
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


def _names_only_s3(job: JobFile, channel: Channel) -> bool:
    """Whether a manifest of the channel may name no files of this machine: in a description of a job of the service."""
    source = channel.DataSource.S3DataSource
    return job.document.elsewhere is not None and source is not None and is_remote(source.S3Uri)


def _where(job: JobFile, path: Path) -> str | None:
    line = job.document.line(path)
    return None if line is None else f"{job.document.name}:{line}"


def _objects(
    job: JobFile, channel: Channel, path: Path, *, strict: bool, region: str, store: Callable[[], ObjectStore]
) -> Listing:
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
    if listing.bucket_uri == _THIS_MACHINE and _names_only_s3(job, channel):
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
    return first_objects(listing, job.local.Sample)


def _file_system(job: JobFile, channel: Channel, path: Path) -> Listing:
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
    return list_folder(
        job.local.Code,
        subject="the code",
        member="Local.Code",
        directory=job.document.directory,
        where=_where(job, ("Local", "Code")),
        rights=job.local.rights,
    )


def check_access(job: JobFile, placed: PlacedEngines) -> None:
    """Refuse what needs engines that see this machine's folders, or run on its kernel."""
    for engine in [each.facts for each in placed.each] if placed.blind is None else [placed.blind]:
        _check_file_systems(job, engine)
        _check_pipes(job, engine)
        _check_late_names(job, engine)


def _check_file_systems(job: JobFile, engine: EngineFacts) -> None:
    """Channels that are file systems need an engine that can mount local folders."""
    mounted = [
        c.ChannelName for c in job.request.InputDataConfig or () if c.DataSource.FileSystemDataSource is not None
    ]
    if mounted and not engine.shares_folders:
        raise EngineRemoteError(
            f'channel "{mounted[0]}": the engine at {engine.address} does not see the folders of this machine '
            "and cannot mount one as a file system",
            remedy=[f"Use an engine of this machine ({_how(engine)})."],
        )


def _check_late_names(job: JobFile, engine: EngineFacts) -> None:
    """`LateNames` changes a file of this machine that the containers see."""
    if any(fault.Kind == "LateNames" for fault in job.local.Faults) and not engine.shares_folders:
        raise EngineRemoteError(
            f"Local.Faults: LateNames is not possible with the engine at {engine.address}, which does not see "
            "the folders of this machine",
            remedy=[f"Remove the fault, or use an engine of this machine ({_how(engine)})."],
        )


def _check_pipes(job: JobFile, engine: EngineFacts) -> None:
    """A FIFO connects two processes of one kernel. The containers of some engines run on another one."""
    pipes = [c.ChannelName for c in job.request.InputDataConfig or () if effective_mode(c, job.request) == "Pipe"]
    if not pipes or (engine.shares_folders and engine.local and not engine.desktop):
        return
    if engine.desktop:
        why = "runs in a virtual machine"
    elif engine.shares_folders:
        why = "is at an address of the network, so that it may run on another kernel"
    else:
        why = "does not see the folders of this machine"
    raise PipeUnreachableError(
        f'channel "{pipes[0]}": a FIFO of this machine cannot reach containers of the engine at {engine.address}, '
        f"which {why}",
        remedy=[f"Use an engine of this machine ({_how(engine)}), or File or FastFile mode: InputMode: FastFile."],
    )


def _how(engine: EngineFacts) -> str:
    """How to use another engine."""
    return "change Local.Engines, or --engine" if engine.named else "docker context use default, or unset DOCKER_HOST"


def no_fuse(job: JobFile, inputs: InputFacts, engines: Sequence[EngineFacts]) -> str | None:
    """Why FUSE cannot be used. Only checked if a channel would use it."""
    channels = job.request.InputDataConfig or ()
    streamed = [c.ChannelName for c in channels if effective_mode(c, job.request) == "FastFile"]
    if not any(name in inputs.listings and inputs.listings[name].remote for name in streamed):
        return None
    if any(each.desktop for each in engines):
        return "the engine runs in a virtual machine"
    if not all(each.shares_folders for each in engines):
        return "the engine does not see the folders of this machine"
    if not all(each.same_mounts for each in engines):
        return "the engine does not see mounts of this machine"
    return why_no_fuse()


def seen_inputs(job: JobFile, inputs: InputFacts, placed: PlacedEngines, image: str) -> InputFacts:
    """Have folders that cannot be mounted copied. A file system that cannot be mounted is an error."""
    engines = engines_with_other_mounts(placed.each)
    if not engines:
        return inputs
    for name, listing in inputs.file_systems.items():
        blind = next((each for each in engines if not is_folder_seen(listing.root, [each], image)), None)
        if blind is not None:
            raise EngineRemoteError(
                f'channel "{name}": the engine at {blind.facts().address} does not see {listing.root} '
                "and cannot mount it as a file system",
                remedy=["Use a folder that the engine sees at the same path."],
            )

    def judged(listing: Listing) -> Listing:
        mounted = listing.whole_tree and not listing.remote and not listing.copy_reasons
        if not mounted or is_listing_seen(listing, engines, image):
            return listing
        return replace(listing, copy_reasons=(f"the engine does not see {listing.root}",))

    pipes = {c.ChannelName for c in job.request.InputDataConfig or () if effective_mode(c, job.request) == "Pipe"}
    return replace(
        inputs,
        listings={name: each if name in pipes else judged(each) for name, each in inputs.listings.items()},
        code=None if inputs.code is None else judged(inputs.code),
    )


def absent_paths(job: JobFile) -> list[str]:
    """A line for each path that the job reads and that is not there."""
    document = job.document
    return [
        f"{document.where(place)}   {path} does not exist here"
        for place, path in _paths(job)
        if not os.path.exists(local_path(path, document.directory, job.local.rights))
    ]


def _paths(job: JobFile) -> Iterator[tuple[Path, str]]:
    for index, channel in enumerate(job.request.InputDataConfig or ()):
        source = channel.DataSource.S3DataSource
        if source is not None and is_local_path(source.S3Uri):
            yield ("InputDataConfig", index, "DataSource", "S3DataSource", "S3Uri"), source.S3Uri
    for prefix, folder in job.local.Sources.items():
        yield (LOCAL, "Sources", prefix), folder
    if job.local.Code is not None:
        yield (LOCAL, "Code"), job.local.Code
