"""Folders for TensorBoard and the debugger: what stands for their URIs here, and how they are mounted."""

import os
from collections.abc import Sequence

from smlocal.contract import paths
from smlocal.contract.checkpoints import container_path, overlap, unusable
from smlocal.contract.validation.violation import Violation
from smlocal.engine.interface import Mount
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.job_file import JobFile
from smlocal.jobfile.refusal import unsupported_request
from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.document import collector_directory
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import is_remote, longest_match


def see_collectors(job: JobFile) -> dict[str, str]:
    """The local folder that stands for each S3OutputPath, by member; without those in S3 that nothing stands for."""
    found = {}
    request = job.request
    taken: list[_Taken] = []
    if request.CheckpointConfig is not None:
        taken.append(_taken("CheckpointConfig", request.CheckpointConfig.LocalPath, paths.CHECKPOINTS))
    for member, config, default in (
        ("TensorBoardOutputConfig", request.TensorBoardOutputConfig, paths.TENSORBOARD),
        ("DebugHookConfig", request.DebugHookConfig, paths.TENSORS),
    ):
        if config is None:
            continue
        why = None if config.LocalPath is None else unusable(config.LocalPath, code=job.local.Code is not None)
        if why is not None:
            raise _refused(job, member, config.LocalPath, why)
        taken.append(_taken(member, config.LocalPath, default))
        _keep_apart(job, taken)
        folder = _folder(config.S3OutputPath, job)
        if folder is not None:
            found[member] = folder
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Taken:
    """A folder of the container that is mirrored."""

    member: str
    given: str | None
    path: str


def _taken(member: str, given: str | None, default: str) -> _Taken:
    return _Taken(member=member, given=given, path=container_path(given or default))


def _keep_apart(job: JobFile, taken: Sequence[_Taken]) -> None:
    """Defaults lie apart: of two that do not, one was given, and that is the one to change."""
    *others, last = taken
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
        return cleaned(local_path(uri, directory))
    match = longest_match(uri, job.local.Sources)
    rest = "" if match is None else match.rest.removesuffix("/")
    if match is None or (rest and any(name in {"", ".", ".."} for name in rest.split("/"))):
        return None
    return cleaned(os.path.join(local_path(match.value, directory), rest))


def make_collectors(plan: JobPlan, host: HostPlan) -> None:
    """Make the folders that are mounts of their own, empty; the others are made with the folders they lie in."""
    for collector in _own_mounts(plan):
        folder = collector_directory(plan, host, collector)
        os.mkdir(folder)
        os.chmod(folder, 0o755)  # noqa: S103  what the service has, whatever the user's umask


def collector_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """What is mounted for the collectors alone."""
    return tuple(
        Mount(source=collector_directory(plan, host, each), target=each.local_path) for each in _own_mounts(plan)
    )


def _own_mounts(plan: JobPlan) -> list[CollectorPlan]:
    return [each for each in plan.collectors if each.own_mount]
