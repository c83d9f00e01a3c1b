"""Saves mirrored folders when the containers have ended, or later by `smlocal pack` those that could not be saved.

Files that cannot be saved are kept in the folder of the job. A marker tells readers of the tensors of the debugger that
no more of them follow.
"""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, no_check, remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.atomic_write import PackingStoppedError, artifact_errors
from smlocal.data.artifacts.tree import HostTree
from smlocal.engine.interface import Engine
from smlocal.errors import ArtifactError
from smlocal.jobs.mirrored.folders import Access, MirroredFolder, mirrored_folders
from smlocal.jobs.planning.model import HostPlan, JobPlan, host_directory

if TYPE_CHECKING:
    from tempfile import TemporaryFile

    from smlocal.data.artifacts import model_folder
    from smlocal.data.artifacts.mirror import target as targets
    from smlocal.data.artifacts.mirror.save import SaveReport, save
    from smlocal.data.artifacts.model_folder import keep_folder, read_kept_folder, read_or_copy, write_index
else:
    model_folder = at_use("smlocal.data.artifacts.model_folder")
    targets = at_use("smlocal.data.artifacts.mirror.target")
    SaveReport = at_use("smlocal.data.artifacts.mirror.save", "SaveReport")
    save = at_use("smlocal.data.artifacts.mirror.save", "save")
    TemporaryFile = at_use("tempfile", "TemporaryFile")
    keep_folder = at_use("smlocal.data.artifacts.model_folder", "keep_folder")
    read_kept_folder = at_use("smlocal.data.artifacts.model_folder", "read_kept_folder")
    write_index = at_use("smlocal.data.artifacts.model_folder", "write_index")
    read_or_copy = at_use("smlocal.data.artifacts.model_folder", "read_or_copy")

_FOR_RULES = "rule-tensors"
"""A second copy of a folder."""
_RETRY_SECONDS = 10.0
_AT_ONCE = 8
_HostAt = tuple[HostPlan, str, Engine]
"""With its container and the engine of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """How saving the mirrored folders went."""

    notes: tuple[str, ...] = ()
    unsent: tuple[tuple[str, str], ...] = ()
    """Folders that could not be sent to S3: prefix and local folder."""
    lost: tuple[str, ...] = ()
    """The names of folders that are not saved anywhere."""
    error: ArtifactError | None = None
    """The first error."""

    def and_then(self, other: "Saved") -> "Saved":
        """Both, in this order."""
        return Saved(
            notes=self.notes + other.notes,
            unsent=self.unsent + other.unsent,
            lost=self.lost + other.lost,
            error=self.error or other.error,
        )


def save_mirrored(
    plan: JobPlan,
    hosts: Iterable[_HostAt],
    *,
    last: bool,
    cancelled: Callable[[], bool] = lambda: False,
    check: Check = no_check,
    working: Callable[[str], None] = lambda _: None,
) -> Saved:
    """Save the mirrored folders of the hosts, each given with its container and engine.

    The containers must have ended, their folders must still exist, and no mirror may be running. It may be called
    again, also by another process. `last`: no attempt follows, so readers of the tensors are told that they are
    complete. Once `cancelled` returns True, sending to S3 is stopped; if `check` raises, so is everything else.
    """
    if plan.mirrored.checkpoints is None and not plan.mirrored.collectors:
        return Saved()

    given = list(hosts)
    access = Access(cancelled=cancelled, check=check, working=working, at_once=_AT_ONCE)
    saved = Saved()
    for folder in mirrored_folders(plan, access):
        saved = saved.and_then(_save_one(folder, given, check, last=last))
    return saved


def _save_one(folder: MirroredFolder, hosts: Sequence[_HostAt], check: Check, *, last: bool) -> Saved:
    trees: list[HostTree] = []
    plans = [host for host, *_ in hosts]
    try:
        trees += [folder_tree(folder, *each, check=check) for each in hosts]
        report = save_folder(folder, trees, plans)
        if last:
            with artifact_errors():
                _put_end_marker(folder, folder.target)
    except ArtifactError as error:
        if folder.s3_prefix is not None and trees and _save_locally(folder, trees, plans, check, last=last):
            note = f"files that are missing in {folder.s3_prefix} are in {folder.fallback}"
            return Saved(notes=(note,), unsent=((folder.s3_prefix, folder.fallback),), error=error)
        _index_copies(folder, trees)
        return Saved(lost=(folder.name,), error=error)
    except PackingStoppedError:
        _index_copies(folder, trees)
        raise
    return Saved(notes=(*report.notes, *map(str, report.clashes)))


def save_folder(folder: MirroredFolder, trees: Sequence[HostTree], hosts: Sequence[HostPlan]) -> SaveReport:
    """Save a mirrored folder; `trees` has its contents, in the order of the hosts."""
    state = folder.state()
    report = save(
        trees,
        folder.target,
        restored=[state.up_to_date(host.host.name, folder.restored(host)) for host in hosts],
        owners=state.owners,
        shared=folder.plan.engines.first.shares_folders,
    )
    clashes = {clash.path: clash for clash in (*state.clashes.values(), *report.clashes)}
    return replace(report, clashes=tuple(clashes.values()))


def _save_locally(
    folder: MirroredFolder, trees: Sequence[HostTree], hosts: Sequence[HostPlan], check: Check, *, last: bool
) -> bool:
    """Save to the local folder the files that could not be sent to S3; False if there is nothing, or that fails too."""
    links = folder.plan.rights.links
    target = targets.FolderTarget(path=folder.fallback, run_id=folder.plan.run_id, links=links, check=check)
    try:
        written = bool(save_folder(replace(folder, target=target), trees, hosts).written)
        if last and folder.end_marker is not None:
            _put_end_marker(folder, target)
            return True
    except (ArtifactError, OSError):
        return False
    return written


def folder_tree(
    folder: MirroredFolder, host: HostPlan, container: str, engine: Engine, *, check: Check = no_check
) -> HostTree:
    """The contents of a mirrored folder of one host."""
    directory = folder.directory(host)
    if not _is_folder(directory, host_directory(folder.plan, host)):
        return HostTree(host=host.host.name, root=os.fsencode(directory), entries=())
    return read_or_copy(
        host.host.name,
        directory,
        engine=engine,
        container=container,
        path=folder.local_path,
        copy_to=spool(folder.plan, host, folder.name),
        shared=folder.plan.engines.first.shares_folders,
        check=check,
    )


def _is_folder(directory: str, above: str) -> bool:
    """False if the container deleted the folder or one above it, or made a link of it: its links are not followed."""
    current = above
    for name in directory.removeprefix(f"{above}/").split("/"):
        current = f"{current}/{name}"
        try:
            if not stat.S_ISDIR(os.lstat(current).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return False
        except PermissionError:
            return True  # the engine checks it, from inside the container
        except OSError as error:
            raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[current]) from error
    return True


def remove_end_marker(plan: JobPlan, warn: Callable[[str], None]) -> None:
    """Remove the marker of an earlier job of this name, at which readers would stop before the first tensor."""
    for folder in _marked_folders(plan, lambda: False):
        try:
            if folder.target.exists():
                with folder.target.open() as opened:
                    opened.delete(os.fsencode(folder.end_marker or ""))
        except OSError as error:
            warn(f"the end marker of an earlier job could not be removed: {_described(error)}")


def mark_ends(plan: JobPlan, cancelled: Callable[[], bool]) -> list[str]:
    """Put the marker where a job has ended without saving its folders; returns what failed, as sentences."""
    failures = []
    for folder in _marked_folders(plan, cancelled):
        try:
            _put_end_marker(folder, folder.target)
        except OSError as error:
            failures.append(f"readers of the tensors do not see that they are complete: {_described(error)}")
    return failures


def _put_end_marker(folder: MirroredFolder, target: "targets.Target") -> None:
    """Add the marker, if the folder has one. It must be the last file that is written; `OSError` if that fails."""
    if folder.end_marker is None:
        return

    # If there is a folder of that name: readers only ask whether the name exists.
    with TemporaryFile() as empty, suppress(targets.PathConflictError), target.open() as opened:
        opened.write(os.fsencode(folder.end_marker), empty.fileno(), mtime=int(time.time()))


def _marked_folders(plan: JobPlan, cancelled: Callable[[], bool]) -> list[MirroredFolder]:
    if not any(each.end_marker for each in plan.mirrored.collectors):
        return []

    access = Access(retry_seconds=_RETRY_SECONDS, cancelled=cancelled)
    return [folder for folder in mirrored_folders(plan, access) if folder.end_marker is not None]


def _described(error: OSError) -> str:
    where = "" if error.filename is None else f" ({os.fsdecode(error.filename)})"
    return f"{error.strerror or error}{where}"


def spool(plan: JobPlan, host: HostPlan, name: str) -> str:
    """Where a mirrored folder of a host is copied to through the engine, if it cannot be read directly."""
    return f"{plan.job_directory}/staged/{host.host.name}-{name}"


def _index_copies(folder: MirroredFolder, trees: Iterable[HostTree]) -> None:
    """Write the indexes of trees that were copied through the engine, so that they can be kept."""
    copies = {spool(folder.plan, host, folder.name) for host in folder.plan.hosts}
    for tree in trees:
        if os.fsdecode(tree.root) in copies and os.path.isdir(tree.root):
            with suppress(OSError):  # if the disk is full, `keep_not_saved` reports the loss
                write_index(tree)


def not_saved_document(plan: JobPlan, names: Collection[str]) -> dict[str, str]:
    """Where those of these folders, by name, are kept to which anything was written."""
    found = (folder for folder in mirrored_folders(plan) if folder.name in names and folder.name != _FOR_RULES)
    return {folder.local_path: _not_saved_directory(folder) for folder in found if _has_files(folder)}


def all_names(plan: JobPlan) -> tuple[str, ...]:
    """The names of all mirrored folders of the job."""
    return tuple(folder.name for folder in mirrored_folders(plan))


def keep_not_saved(plan: JobPlan, document: Mapping[str, str]) -> list[str]:
    """Move these folders to where the clean-up does not remove them; returns what failed, as sentences.

    It may be called again, also by another process.
    """
    failures = []
    for folder in _kept_folders(plan, document):
        for host in plan.hosts:
            copied = spool(plan, host, folder.name)
            source = copied if os.path.exists(copied + model_folder.INDEX) else folder.directory(host)
            try:
                keep_folder(source, f"{_not_saved_directory(folder)}/{host.host.name}")
            except (ArtifactError, OSError) as error:
                failures.append(
                    f"the files that {host.host.name} wrote to {folder.local_path} could not be kept: {error}"
                )
    return failures


def _has_files(folder: MirroredFolder) -> bool:
    for host in folder.plan.hosts:
        copied = spool(folder.plan, host, folder.name)
        if os.path.exists(copied + model_folder.INDEX) or os.path.isdir(
            f"{_not_saved_directory(folder)}/{host.host.name}"
        ):
            return True
        try:
            if os.listdir(folder.directory(host)):
                return True
        except PermissionError:
            return True
        except OSError:  # the container deleted it
            pass
    return False


def _not_saved_directory(folder: MirroredFolder) -> str:
    return f"{folder.plan.job_directory}/not-saved/{folder.name}"


def save_again(
    plan: JobPlan, document: Mapping[str, str], *, output: str | None, working: Callable[[str], None] | None
) -> Saved:
    """Save the kept files to the plan's destination, or below `output`; the kept files are deleted then.

    Files that belong in S3 are saved to the local folder in its place, and can be sent from there.
    """
    saved = Saved()
    for folder in _kept_folders(plan, document, Access(working=working)):
        path = folder.fallback if output is None else f"{output}/{folder.name}"
        links = plan.rights.links or output is not None
        target = targets.FolderTarget(path=path, run_id=plan.run_id, links=links)
        kept = document[folder.local_path]
        trees = [read_kept_folder(host.host.name, f"{kept}/{host.host.name}") for host in plan.hosts]
        try:
            report = save_folder(replace(folder, target=target), trees, plan.hosts)
        except ArtifactError as error:
            kept_still = f"The files are still kept in {kept}"
            raise ArtifactError(error.sentence, details=error.details, remedy=[*error.remedy, kept_still]) from error
        remove_tree(kept)
        notes = (f"{folder.local_path} is saved in {path}", *report.notes, *map(str, report.clashes))
        unsent = () if folder.s3_prefix is None else ((folder.s3_prefix, path),)
        saved = saved.and_then(Saved(notes=notes, unsent=unsent))
    return saved


def _kept_folders(plan: JobPlan, document: Mapping[str, str], access: Access | None = None) -> Iterator[MirroredFolder]:
    """The folders that this document names, each once."""
    for folder in mirrored_folders(plan, access):
        if folder.local_path in document and folder.name != _FOR_RULES:
            yield folder
