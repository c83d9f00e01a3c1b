"""Lists everything that a job reads, once, before the job is made, and finds how its engines can read it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.data.sources.local_path import is_remote, local_path, longest_match
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
from smlocal.jobs.planning.aspects.engines.look_folders import engines_with_other_mounts
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.workload import AskedChannel, AskedFileSystem, Workload
from smlocal.terms.listing import Listing, s3_form, split_s3_uri
from smlocal.terms.model.structure import is_local_path
from smlocal.terms.validation.violation import Path

if TYPE_CHECKING:
    from smlocal.data.channels.fastfile.availability import why_no_fuse
    from smlocal.data.sources.channel import ChannelSource, list_channel
    from smlocal.data.sources.local_listing import list_folder, locate_file_system
    from smlocal.data.sources.s3.interface import ObjectStore
    from smlocal.data.sources.selection import first_objects
    from smlocal.data.sources.source_errors import RequestedSource
    from smlocal.engine.seen_folders import is_folder_seen, is_listing_seen
else:
    is_folder_seen = at_use("smlocal.engine.seen_folders", "is_folder_seen")
    is_listing_seen = at_use("smlocal.engine.seen_folders", "is_listing_seen")
    list_folder = at_use("smlocal.data.sources.local_listing", "list_folder")
    locate_file_system = at_use("smlocal.data.sources.local_listing", "locate_file_system")
    why_no_fuse = at_use("smlocal.data.channels.fastfile.availability", "why_no_fuse")
    first_objects = at_use("smlocal.data.sources.selection", "first_objects")
    ChannelSource = at_use("smlocal.data.sources.channel", "ChannelSource")
    list_channel = at_use("smlocal.data.sources.channel", "list_channel")
    RequestedSource = at_use("smlocal.data.sources.source_errors", "RequestedSource")

_THIS_MACHINE = "file:///"
_CONNECT_SECONDS = 3.0
"""To connect to S3: a wrong endpoint should be reported soon."""


def store_of(work: Workload, region: str) -> "Callable[[], ObjectStore]":
    """Opens S3 when something is to be listed there."""

    @cache
    def store() -> "ObjectStore":
        from smlocal.data.sources.s3.client import open_store  # most jobs read nothing from S3

        return open_store(region, rights=work.local.rights, connect_seconds=_CONNECT_SECONDS)

    return store


def list_inputs(work: Workload, *, strict: bool, region: str, store: "Callable[[], ObjectStore]") -> InputFacts:
    """List the channels and the code. What the service would refuse is an error."""
    listings, file_systems = {}, {}
    for channel in work.channels:
        if channel.file_system is not None:
            file_systems[channel.name] = _file_system(work, channel, channel.file_system)
            continue
        try:
            listings[channel.name] = _objects(work, channel, strict=strict, region=region, store=store)
        except SourceEmptyError as error:
            if not work.empty_source_fails:
                raise
            listings[channel.name] = _no_objects(work, channel.uri, error)
        except CredentialsMissingError as error:
            uri = channel.uri.rstrip("/")
            raise CredentialsMissingError(
                error.sentence,
                details=error.details,
                remedy=(*error.remedy, f"Or use a local folder, without AWS: --source {uri}=DIR"),
            ) from error
    directory, rights = work.document.directory, work.local.rights
    return InputFacts(
        listings=listings,
        file_systems=file_systems,
        code=_code(work),
        sources={
            uri: os.path.abspath(local_path(folder, directory, rights)) for uri, folder in work.local.Sources.items()
        },
        only_s3=frozenset(each.name for each in work.channels if _names_only_s3(work, each)),
    )


def _no_objects(work: Workload, uri: str, error: SourceEmptyError) -> Listing:
    """The listing of a channel whose download fails because there is nothing to download."""
    match = longest_match(uri, work.local.Sources)
    folder = (None if is_remote(uri) else uri) if match is None else match.value
    in_s3 = error.sentence.startswith("No S3 objects found")
    bucket_uri, key = split_s3_uri(s3_form(uri)) if is_remote(uri) else (_THIS_MACHINE, uri.lstrip("/"))
    return Listing(
        root="" if folder is None else local_path(folder, work.document.directory, work.local.rights),
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=key[: key.rfind("/") + 1],
        paths=(),
        total_bytes=0,
        whole_tree=False,
        failure=error.sentence if in_s3 else f'No S3 objects found under S3 URL "{uri}" given in input data source.',
    )


def _names_only_s3(work: Workload, channel: AskedChannel) -> bool:
    """Whether a manifest of the channel may name no files of this machine: in a description of a job of the service."""
    return work.document.elsewhere is not None and channel.file_system is None and is_remote(channel.uri)


def _where(work: Workload, path: Path) -> str | None:
    line = work.document.line(path)
    return None if line is None else f"{work.document.name}:{line}"


def _objects(
    work: Workload, channel: AskedChannel, *, strict: bool, region: str, store: "Callable[[], ObjectStore]"
) -> Listing:
    listing = list_channel(
        ChannelSource(
            name=channel.name,
            uri=channel.uri,
            data_type=channel.data_type,
            mode=channel.mode,
            directory=work.document.directory,
            where=_where(work, channel.place),
        ),
        mapping=work.local.Sources,
        strict=strict,
        region=region,
        role=work.role,
        store=store,
        rights=work.local.rights,
    )
    if listing.bucket_uri == _THIS_MACHINE and _names_only_s3(work, channel):
        raise PathInDescriptionError(
            f'the manifest of the channel "{channel.name}" names files of this machine',
            details=[
                f"{work.document.where(channel.place)}   {channel.uri}",
                f"its prefix: file:///{listing.prefix}",
            ],
            remedy=[
                f"{work.document.name} is the description of a job of the service, where manifests name objects of S3.",
                "Correct the manifest, or give a folder of your own: --channel NAME=DIR.",
            ],
        )
    if work.local.Sample is None:
        return listing
    return first_objects(listing, work.local.Sample)


def _file_system(work: Workload, channel: AskedChannel, asked: AskedFileSystem) -> Listing:
    system = RequestedSource(
        subject=f'channel "{channel.name}"',
        member="FileSystemId",
        uri=asked.system,
        where=_where(work, channel.place),
        directory=work.document.directory,
        rights=work.local.rights,
    )
    directory = replace(system, member="DirectoryPath", uri=asked.directory)
    folder = locate_file_system(system, directory, mapping=work.local.Sources)
    return Listing(
        root=folder, bucket_uri=_THIS_MACHINE, prefix="", key_base="", paths=(), total_bytes=None, whole_tree=True
    )


def _code(work: Workload) -> Listing | None:
    if work.local.Code is None:
        return None
    return list_folder(
        work.local.Code,
        subject="the code",
        member="Local.Code",
        directory=work.document.directory,
        where=_where(work, ("Local", "Code")),
        rights=work.local.rights,
    )


def check_access(work: Workload, placed: PlacedEngines) -> None:
    """Refuse what needs engines that see this machine's folders, or run on its kernel."""
    for engine in [each.facts for each in placed.each] if placed.blind is None else [placed.blind]:
        _check_file_systems(work, engine)
        _check_pipes(work, engine)
        _check_late_names(work, engine)


def _check_file_systems(work: Workload, engine: EngineFacts) -> None:
    """Channels that are file systems need an engine that can mount local folders."""
    mounted = [each.name for each in work.channels if each.file_system is not None]
    if mounted and not engine.shares_folders:
        raise EngineRemoteError(
            f'channel "{mounted[0]}": the engine at {engine.address} does not see the folders of this machine '
            "and cannot mount one as a file system",
            remedy=[f"Use an engine of this machine ({_how(engine)})."],
        )


def _check_late_names(work: Workload, engine: EngineFacts) -> None:
    """`LateNames` changes a file of this machine that the containers see."""
    if any(fault.Kind == "LateNames" for fault in work.local.Faults) and not engine.shares_folders:
        raise EngineRemoteError(
            f"Local.Faults: LateNames is not possible with the engine at {engine.address}, which does not see "
            "the folders of this machine",
            remedy=[f"Remove the fault, or use an engine of this machine ({_how(engine)})."],
        )


def _check_pipes(work: Workload, engine: EngineFacts) -> None:
    """A FIFO connects two processes of one kernel. The containers of some engines run on another one."""
    pipes = [each.name for each in work.channels if each.mode == "Pipe"]
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


def no_fuse(work: Workload, inputs: InputFacts, engines: Sequence[EngineFacts]) -> str | None:
    """Why FUSE cannot be used. Only checked if a channel would use it."""
    streamed = [each.name for each in work.channels if each.mode == "FastFile"]
    if not any(name in inputs.listings and inputs.listings[name].remote for name in streamed):
        return None
    for engine in engines:
        if engine.place is not None:
            return f"{engine.place.name} is not known to show mounts of the home folder to containers"
    if any(each.desktop for each in engines):
        return "the engine runs in a virtual machine"
    if not all(each.shares_folders for each in engines):
        return "the engine does not see the folders of this machine"
    if not all(each.same_mounts for each in engines):
        return "the engine does not see mounts of this machine"
    return why_no_fuse()


def seen_inputs(work: Workload, inputs: InputFacts, placed: PlacedEngines, image: str) -> InputFacts:
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

    pipes = {each.name for each in work.channels if each.mode == "Pipe"}
    return replace(
        inputs,
        listings={name: each if name in pipes else judged(each) for name, each in inputs.listings.items()},
        code=None if inputs.code is None else judged(inputs.code),
    )


def absent_paths(work: Workload) -> list[str]:
    """A line for each path that the job reads and that is not there."""
    document = work.document
    return [
        f"{document.where(place)}   {path} does not exist here"
        for place, path in _paths(work)
        if not os.path.exists(local_path(path, document.directory, work.local.rights))
    ]


def _paths(work: Workload) -> Iterator[tuple[Path, str]]:
    for channel in work.channels:
        if channel.file_system is None and is_local_path(channel.uri):
            yield channel.place, channel.uri
    for prefix, folder in work.local.Sources.items():
        yield (LOCAL, "Sources", prefix), folder
    if work.local.Code is not None:
        yield (LOCAL, "Code"), work.local.Code
