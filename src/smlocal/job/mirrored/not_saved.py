"""Mirrored folders that could not be saved: kept in the job's folder."""

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from smlocal.artifacts.kept_folders import INDEX, keep_folder, write_index
from smlocal.artifacts.tree import HostTree
from smlocal.errors import ArtifactError
from smlocal.job.mirrored.folders import MirroredFolder, mirrored_folders
from smlocal.planning.model import HostPlan, JobPlan

NOT_SAVED = "NotSaved"
"""The member of `Local.Artifacts` with these folders: where each is kept, by its path in the container."""
FOR_RULES = "rule-tensors"
"""A second copy of a folder."""


def spool(plan: JobPlan, host: HostPlan, name: str) -> str:
    """Where a mirrored folder of a host is copied to through the engine, if it cannot be read directly."""
    return f"{plan.job_directory}/staged/{host.host.name}-{name}"


def index_copies(folder: MirroredFolder, trees: Iterable[HostTree]) -> None:
    """Write the indexes of trees that were copied through the engine, so that they can be kept."""
    for host in folder.plan.hosts:
        copied = spool(folder.plan, host, folder.name)
        for tree in trees:
            if os.fsdecode(tree.root) == copied and os.path.isdir(copied):
                with suppress(OSError):  # if the disk is full, `keep_not_saved` says what is lost
                    write_index(tree)


def not_saved_document(plan: JobPlan, names: Collection[str]) -> dict[str, str]:
    """Where those of these folders, by name, are kept to which anything was written."""
    found = (folder for folder in mirrored_folders(plan) if folder.name in names and folder.name != FOR_RULES)
    return {folder.local_path: _kept(folder) for folder in found if _has_files(folder)}


def all_names(plan: JobPlan) -> tuple[str, ...]:
    """The names of all mirrored folders of the job."""
    return tuple(folder.name for folder in mirrored_folders(plan))


def keep_not_saved(plan: JobPlan, document: Mapping[str, str]) -> list[str]:
    """Move these folders to where the clean-up does not remove them; returns what failed, as sentences.

    It may be called again, also by another process.
    """
    failures = []
    for folder in mirrored_folders(plan):
        if folder.local_path not in document or folder.name == FOR_RULES:
            continue
        for host in plan.hosts:
            copied = spool(plan, host, folder.name)
            source = copied if os.path.exists(copied + INDEX) else folder.directory(host)
            try:
                keep_folder(source, f"{_kept(folder)}/{host.host.name}")
            except (ArtifactError, OSError) as error:
                failures.append(f"what {host.host.name} wrote to {folder.local_path} could not be kept: {error}")
    return failures


def _has_files(folder: MirroredFolder) -> bool:
    for host in folder.plan.hosts:
        copied = spool(folder.plan, host, folder.name)
        if os.path.exists(copied + INDEX) or os.path.isdir(f"{_kept(folder)}/{host.host.name}"):
            return True
        try:
            if os.listdir(folder.directory(host)):
                return True
        except PermissionError:
            return True
        except OSError:  # the container deleted it
            pass
    return False


def _kept(folder: MirroredFolder) -> str:
    return f"{folder.plan.job_directory}/not-saved/{folder.name}"
