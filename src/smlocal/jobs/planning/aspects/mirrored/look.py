"""The checkpoints that there are, and the local folders for what a job mirrors."""

from collections.abc import Callable, Sequence

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.channel import InS3, list_checkpoints
from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.data.sources.source_errors import Caller
from smlocal.errors import CredentialsMissingError, FieldRefusedError, S3UnreachableError, SourceEmptyError
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredFacts
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.paths import container_path, unusable
from smlocal.sagemaker.jobfile.job_file import JobFile, unsupported_request
from smlocal.terms.checkpoints import overlap
from smlocal.terms.listing import Listing
from smlocal.terms.validation.violation import Violation


def list_mirrored(job: JobFile, *, strict: bool, region: str, store: Callable[[], ObjectStore]) -> MirroredFacts:
    """List the checkpoints, and find the folders. What CreateTrainingJob would refuse is an error."""
    checkpoints = _checkpoints(job, strict=strict, region=region, store=store)
    return MirroredFacts(checkpoints=checkpoints, collectors=_collector_folders(job))


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
    line = job.document.line(("CheckpointConfig", "S3Uri"))
    place = None if line is None else f"{job.document.name}:{line}"
    try:
        return list_checkpoints(
            config.S3Uri,
            member="CheckpointConfig.S3Uri",
            directory=job.document.directory,
            mapping=job.local.Sources,
            strict=strict,
            where=place,
            in_s3=InS3(store=store, caller=Caller(region=region, role=job.request.RoleArn or "")),
            rights=job.local.rights,
        )
    except (CredentialsMissingError, S3UnreachableError, SourceEmptyError) as error:
        uri = config.S3Uri.rstrip("/")
        where = f"{place or job.document.name}   CheckpointConfig.S3Uri: {uri}"
        raise type(error)(
            error.sentence,
            details=error.details if uri in "".join(error.details) else (*error.details, where),
            remedy=(
                *error.remedy,
                f"Or keep the checkpoints in a local folder, without AWS: --source {uri}=DIR",
                "An empty folder begins without checkpoints.",
            ),
        ) from error


def _collector_folders(job: JobFile) -> dict[str, str]:
    """The local folder for each S3OutputPath, by member; without those in S3 that are not mapped (`Local.Sources`)."""
    folders = {}
    request = job.request
    mirrored: list[_Mirrored] = []
    if request.CheckpointConfig is not None:
        mirrored.append(_mirrored("CheckpointConfig", request.CheckpointConfig.LocalPath, paths.CHECKPOINTS))
    for member, config, default in (
        ("TensorBoardOutputConfig", request.TensorBoardOutputConfig, paths.TENSORBOARD),
        ("DebugHookConfig", request.DebugHookConfig, paths.TENSORS),
    ):
        if config is None:
            continue
        why = None if config.LocalPath is None else unusable(config.LocalPath, code=job.local.Code is not None)
        if why is not None:
            raise _refused(job, member, config.LocalPath, why)
        mirrored.append(_mirrored(member, config.LocalPath, default))
        _refuse_overlap(job, mirrored)
        folder = _folder(config.S3OutputPath, job)
        if folder is not None:
            folders[member] = folder
    return folders


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mirrored:
    """A folder of the container that is mirrored."""

    member: str
    given: str | None
    path: str


def _mirrored(member: str, given: str | None, default: str) -> _Mirrored:
    return _Mirrored(member=member, given=given, path=container_path(given or default))


def _refuse_overlap(job: JobFile, mirrored: Sequence[_Mirrored]) -> None:
    """Check the last one. Defaults do not overlap, so of two that do, one was given: the error names it."""
    *others, last = mirrored
    for other in others:
        one, two = (last, other) if last.given is not None else (other, last)
        why = overlap(one.path, two.path, whose=two.member)
        if why is not None:
            raise _refused(job, one.member, one.given, why)


def _refused(job: JobFile, member: str, path: str | None, why: str) -> FieldRefusedError:
    text = f"{member}.LocalPath: {path} is refused: {why}"
    violation = Violation(path=(member, "LocalPath"), text=text)
    return unsupported_request(job.document, [(f"{member}.LocalPath", violation)])


def _folder(uri: str, job: JobFile) -> str | None:
    directory = job.document.directory
    if not is_remote(uri):
        return cleaned(local_path(uri, directory, job.local.rights))
    match = longest_match(uri, job.local.Sources)
    rest = "" if match is None else match.rest.removesuffix("/")
    if match is None or (rest and any(name in {"", ".", ".."} for name in rest.split("/"))):
        return None
    return cleaned(local_path(match.value, directory, job.local.rights, rest))
