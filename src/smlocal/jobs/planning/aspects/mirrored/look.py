"""The checkpoints that there are, and the local folders for what a job mirrors."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.errors import CredentialsMissingError, S3UnreachableError, SourceEmptyError
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredFacts
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.sources.channel import InS3, list_checkpoints
    from smlocal.data.sources.s3.interface import ObjectStore
    from smlocal.data.sources.source_errors import Caller
else:
    Caller = at_use("smlocal.data.sources.source_errors", "Caller")
    list_checkpoints = at_use("smlocal.data.sources.channel", "list_checkpoints")
    InS3 = at_use("smlocal.data.sources.channel", "InS3")


def list_mirrored(work: Workload, *, strict: bool, region: str, store: "Callable[[], ObjectStore]") -> MirroredFacts:
    """List the checkpoints, and find the folders. What the service would refuse is an error."""
    checkpoints = _checkpoints(work, strict=strict, region=region, store=store)
    found = {each.name: folder_for(each.uri, work) for each in work.mirrored}
    return MirroredFacts(checkpoints=checkpoints, folders={name: each for name, each in found.items() if each})


def _checkpoints(work: Workload, *, strict: bool, region: str, store: "Callable[[], ObjectStore]") -> Listing | None:
    """The objects or files below the checkpoint prefix, if the job has checkpoints."""
    asked, document = work.checkpoints, work.document
    if asked is None:
        return None
    line = document.line(("CheckpointConfig", "S3Uri"))
    place = None if line is None else f"{document.name}:{line}"
    try:
        return list_checkpoints(
            asked.uri,
            member="CheckpointConfig.S3Uri",
            directory=document.directory,
            mapping=work.local.Sources,
            strict=strict,
            where=place,
            in_s3=InS3(store=store, caller=Caller(region=region, role=work.role)),
            rights=work.local.rights,
        )
    except (CredentialsMissingError, S3UnreachableError, SourceEmptyError) as error:
        uri = asked.uri.rstrip("/")
        where = f"{place or document.name}   CheckpointConfig.S3Uri: {uri}"
        raise type(error)(
            error.sentence,
            details=error.details if uri in "".join(error.details) else (*error.details, where),
            remedy=(
                *error.remedy,
                f"Or keep the checkpoints in a local folder, without AWS: --source {uri}=DIR",
                "An empty folder begins without checkpoints.",
            ),
        ) from error


def folder_for(uri: str, work: Workload) -> str | None:
    """The folder of this machine that a location names, or that stands for it (`Local.Sources`); None without one."""
    directory, rights = work.document.directory, work.local.rights
    if not is_remote(uri):
        return cleaned(local_path(uri, directory, rights))
    match = longest_match(uri, work.local.Sources)
    rest = "" if match is None else match.rest.removesuffix("/")
    if match is None or (rest and any(name in {"", ".", ".."} for name in rest.split("/"))):
        return None
    return cleaned(local_path(match.value, directory, rights, rest))
