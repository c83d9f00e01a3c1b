"""The checkpoints of one job: restored before containers are created, saved when they have ended."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.engine_copy import read_or_copy
from smlocal.artifacts.stop_check import Check, PackingStoppedError, no_check
from smlocal.artifacts.tree import HostTree
from smlocal.channels.interface import Copying, unbroken
from smlocal.contract.listing import Listing
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError, MachineNotReadyError
from smlocal.planning.host_folders import checkpoint_directory, host_directory
from smlocal.planning.model import CheckpointPlan, HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

if TYPE_CHECKING:
    from smlocal.artifacts.mirror.save import SaveReport
    from smlocal.job.host.delivery import Delivery
    from smlocal.job.mirrored.folders import MirroredFolder

_AT_ONCE = 8
_Hosts = Sequence[tuple[HostPlan, str]]
"""In their order, each with its container."""


def restore_checkpoints(
    plan: JobPlan,
    host: HostPlan,
    delivery: "Delivery | None" = None,
    copying: Copying = unbroken,
) -> None:
    """Restore the checkpoints to one host and record which; `StagingError` if that fails.

    Objects in S3 are downloaded for the first host only.
    """
    if plan.checkpoints is None:
        return
    import json  # most jobs have no checkpoints

    from smlocal.channels.checkpoints import restore
    from smlocal.job.mirrored.folders import restored_record_path

    with copying() as check:
        listing = plan.checkpoints.listing
        if listing.remote and delivery is not None:
            listing = _downloaded(plan, plan.checkpoints, delivery)
        restored = restore(listing, checkpoint_directory(plan, host), check=check)
    with open(restored_record_path(plan, host), "w", encoding="ascii") as record:
        json.dump(asdict(restored), record)


def download_checkpoints(plan: JobPlan, delivery: "Delivery", copying: Copying) -> None:
    """Download the checkpoints from S3, before they are restored to several hosts in parallel."""
    if plan.checkpoints is not None and plan.checkpoints.listing.remote:
        with copying():
            _downloaded(plan, plan.checkpoints, delivery)


def delete_downloaded_checkpoints(plan: JobPlan) -> None:
    """Delete the downloaded checkpoints; every host has its own copy."""
    if plan.checkpoints is not None and plan.checkpoints.listing.remote:
        remove_tree(_attempt_directory(plan))


def _downloaded(plan: JobPlan, checkpoints: CheckpointPlan, delivery: "Delivery") -> Listing:
    """The objects of the prefix, downloaded once in an attempt.

    If checkpoints are saved to S3, they are downloaded to a folder of this attempt; otherwise to the local folder that
    is used in place of the prefix from then on.
    """
    listing, directory = checkpoints.listing, checkpoints.directory
    if checkpoints.s3_prefix is not None:
        directory = _attempt_directory(plan)
        if not os.path.isdir(directory):
            _download(listing, directory, plan.run_id, delivery)
    elif not delivery.checkpoints_downloaded:
        if os.path.lexists(directory):
            aside = f"{directory}-until-{plan.run_id}"
            os.rename(directory, aside)
            delivery.reporter.warning(f"{directory} already existed, from an earlier job; it was moved to {aside}")
        if listing.paths or listing.failure is not None:
            _download(listing, directory, plan.run_id, delivery)
        delivery.checkpoints_downloaded = True
    return _local(listing, directory)


def _attempt_directory(plan: JobPlan) -> str:
    return f"{plan.job_directory}/staged/checkpoints"


def _download(listing: Listing, directory: str, run_id: str, delivery: "Delivery") -> None:
    from smlocal.channels.checkpoints import download

    os.makedirs(os.path.dirname(directory), exist_ok=True)
    download(
        listing,
        directory,
        draft=f"{directory}-{run_id}.partial",
        store=delivery.store(),
        progress=lambda progress: delivery.working(progress.sentence("checkpoints")),
    )


def _local(listing: Listing, directory: str) -> Listing:
    """The current files of a local folder, under their names below the prefix."""
    from smlocal.sources.checkpoints import list_again

    return list_again(replace(listing, root=directory, keys=(), sizes=(), etags=()))


def checkpoint_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The mount for checkpoints; none if they are in a folder that is mounted anyway."""
    checkpoints = plan.checkpoints
    if checkpoints is None or not checkpoints.own_mount:
        return ()
    return (Mount(source=checkpoint_directory(plan, host), target=checkpoints.local_path),)


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


def save_mirrored(
    plan: JobPlan,
    hosts: Iterable[tuple[HostPlan, str, Engine]],
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
    if plan.checkpoints is None and not plan.collectors:
        return Saved()
    from smlocal.artifacts.artifact_errors import artifact_errors
    from smlocal.job.mirrored.end_marker import put_end_marker
    from smlocal.job.mirrored.folders import Access, mirrored_folders  # most jobs have no such folder
    from smlocal.job.mirrored.not_saved import index_copies

    given = list(hosts)
    pairs = [(host, container) for host, container, _ in given]
    notes: list[str] = []
    unsent: list[tuple[str, str]] = []
    lost: list[str] = []
    errors: list[ArtifactError] = []
    access = Access(cancelled=cancelled, check=check, working=working, at_once=_AT_ONCE)
    for folder in mirrored_folders(plan, access):
        trees: list[HostTree] = []
        try:
            trees += [folder_tree(folder, *each, check=check) for each in given]
            report = save_folder(folder, trees, pairs)
            if last:
                with artifact_errors():
                    put_end_marker(folder, folder.target)
        except ArtifactError as error:
            errors.append(error)
            if folder.s3_prefix is not None and trees and _save_locally(folder, trees, pairs, check, last=last):
                notes.append(f"files that are missing in {folder.s3_prefix} are in {folder.fallback}")
                unsent.append((folder.s3_prefix, folder.fallback))
            else:
                lost.append(folder.name)
                index_copies(folder, trees)
        except PackingStoppedError:
            index_copies(folder, trees)
            raise
        else:
            notes += [*report.notes, *map(str, report.clashes)]
    return Saved(notes=tuple(notes), unsent=tuple(unsent), lost=tuple(lost), error=errors[0] if errors else None)


def save_folder(folder: "MirroredFolder", trees: Sequence[HostTree], hosts: _Hosts) -> "SaveReport":
    """Save a mirrored folder; `trees` has its contents, in the order of the hosts."""
    from smlocal.artifacts.mirror.save import save

    state = folder.state()
    report = save(
        trees,
        folder.target,
        restored=[state.up_to_date(host.host.name, folder.restored(host)) for host, _ in hosts],
        owners=state.owners,
        shared=folder.plan.engine.shares_folders,
    )
    clashes = {clash.path: clash for clash in (*state.clashes.values(), *report.clashes)}
    return replace(report, clashes=tuple(clashes.values()))


def _save_locally(
    folder: "MirroredFolder", trees: Sequence[HostTree], hosts: _Hosts, check: Check, *, last: bool
) -> bool:
    """Save to the local folder what could not be sent to S3; False if there is nothing, or that fails too."""
    from smlocal.artifacts.mirror.folder_target import FolderTarget
    from smlocal.job.mirrored.end_marker import put_end_marker

    links = folder.plan.rights.links
    target = FolderTarget(path=folder.fallback, run_id=folder.plan.run_id, links=links, check=check)
    try:
        written = bool(save_folder(replace(folder, target=target), trees, hosts).written)
        if last and folder.end_marker is not None:
            put_end_marker(folder, target)
            return True
    except (ArtifactError, OSError):
        return False
    return written


def with_current_checkpoints(plan: JobPlan) -> JobPlan:
    """The plan of the next attempt, which restores what has been saved meanwhile."""
    if plan.checkpoints is None:
        return plan
    checkpoints = plan.checkpoints
    if checkpoints.s3_prefix is not None:
        listing = _in_s3(plan, checkpoints)
    elif checkpoints.listing.remote and not os.path.isdir(checkpoints.directory):
        return plan  # nothing was downloaded or written yet
    else:
        listing = _local(checkpoints.listing, checkpoints.directory)
    return replace(plan, checkpoints=replace(plan.checkpoints, listing=listing))


def _in_s3(plan: JobPlan, checkpoints: CheckpointPlan) -> Listing:
    """The current objects of the prefix. If they cannot be listed, the attempt fails."""
    from smlocal.sources.checkpoints import list_prefix
    from smlocal.sources.s3.client import open_store
    from smlocal.sources.s3.failure_reasons import download_failure
    from smlocal.sources.s3.interface import S3Error

    listing = checkpoints.listing
    try:
        return list_prefix(open_store(plan.region, rights=plan.rights), listing.bucket_uri, listing.prefix)
    except S3Error as error:
        return listing.failed(download_failure(error))
    except MachineNotReadyError as error:  # there are no credentials any more
        return listing.failed(error.sentence)


def folder_tree(
    folder: "MirroredFolder", host: HostPlan, container: str, engine: Engine, *, check: Check = no_check
) -> HostTree:
    """The contents of a mirrored folder of one host."""
    from smlocal.job.mirrored.not_saved import spool

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
        shared=folder.plan.engine.shares_folders,
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
