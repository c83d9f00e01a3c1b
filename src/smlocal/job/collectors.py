"""Folders for TensorBoard and the debugger: what stands for their URIs here, and how they are mounted."""

import os

from smlocal.contract.checkpoints import container_path, unusable
from smlocal.contract.coverage import refusal
from smlocal.contract.document import Path
from smlocal.contract.job_file import JobFile
from smlocal.contract.validation import Violation
from smlocal.engine.interface import Mount
from smlocal.plan.collectors import CollectorPlan
from smlocal.plan.document import collector_directory
from smlocal.plan.model import HostPlan, JobPlan
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import is_remote, longest_match


def see_collectors(job: JobFile) -> dict[str, str]:
    """The local folder that stands for each S3OutputPath, by member; without those in S3 that nothing stands for."""
    found = {}
    request = job.request
    taken = set()
    if request.CheckpointConfig is not None:
        taken.add(container_path(request.CheckpointConfig.LocalPath))
    for member, config in (
        ("TensorBoardOutputConfig", request.TensorBoardOutputConfig),
        ("DebugHookConfig", request.DebugHookConfig),
    ):
        if config is None:
            continue
        if config.LocalPath is not None:
            _check(job, (member, "LocalPath"), config.LocalPath, taken)
            taken.add(container_path(config.LocalPath))
        folder = _folder(config.S3OutputPath, job)
        if folder is not None:
            found[member] = folder
    return found


def _check(job: JobFile, at: Path, path: str, taken: set[str]) -> None:
    why = unusable(path, code=job.local.Code is not None)
    if container_path(path) in taken:
        why = "Another folder that is mirrored lies there."
    if why is not None:
        member = ".".join(map(str, at))
        raise refusal(job.document, [(member, Violation(path=at, text=f"{member}: {path} is refused: {why}"))])


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
