"""Mirrored folders that could not be saved at the end of their job, saved by `smlocal pack`."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from smlocal.artifacts.kept_folders import read_kept_folder
from smlocal.artifacts.mirror.folder_target import FolderTarget
from smlocal.errors import ArtifactError
from smlocal.job.mirrored.checkpoints import save_folder
from smlocal.job.mirrored.folders import Access, mirrored_folders
from smlocal.job.mirrored.not_saved import FOR_RULES
from smlocal.planning.model import JobPlan
from smlocal.removal import remove_tree


def save_again(
    plan: JobPlan, document: Mapping[str, str], *, output: str | None, working: Callable[[str], None] | None
) -> tuple[list[str], list[tuple[str, str]]]:
    """Save what is kept to where the plan says, or below `output`; the kept files are deleted then.

    What belongs into S3 is saved to the local folder in its place. Returns notes, and what can be sent from there.
    """
    notes: list[str] = []
    unsent: list[tuple[str, str]] = []
    for folder in mirrored_folders(plan, Access(working=working)):
        if folder.local_path not in document or folder.name == FOR_RULES:
            continue
        path = folder.fallback if output is None else f"{output}/{folder.name}"
        links = plan.rights.links or output is not None
        target = FolderTarget(path=path, run_id=plan.run_id, links=links)
        kept = document[folder.local_path]
        trees = [read_kept_folder(host.host.name, f"{kept}/{host.host.name}") for host in plan.hosts]
        try:
            report = save_folder(replace(folder, target=target), trees, [(host, "") for host in plan.hosts])
        except ArtifactError as error:
            kept_still = f"The files are still kept in {kept}"
            raise ArtifactError(error.sentence, details=error.details, remedy=[*error.remedy, kept_still]) from error
        remove_tree(kept)
        notes += [f"{folder.local_path} is saved in {path}", *report.notes, *map(str, report.clashes)]
        if folder.s3_prefix is not None:
            unsent.append((folder.s3_prefix, path))
    return notes, unsent
