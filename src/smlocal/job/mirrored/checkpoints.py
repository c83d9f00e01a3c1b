"""Checkpoints of one job: brought to every host before its container is made, saved when the containers have ended."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.fetch import host_tree
from smlocal.artifacts.tree import HostTree
from smlocal.channels.interface import Copying, unbroken
from smlocal.contract import paths
from smlocal.contract.documents.channel_manifest import manifest
from smlocal.contract.listing import Listing
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError, MachineNotReadyError
from smlocal.planning.document import checkpoint_directory, host_directory
from smlocal.planning.model import CheckpointPlan, HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

if TYPE_CHECKING:
    from smlocal.artifacts.checkpoints import SaveReport
    from smlocal.job.host.delivery import Delivery
    from smlocal.job.mirrored.folders import MirroredFolder

_SIDE_BY_SIDE = 8
_Hosts = Sequence[tuple[HostPlan, str]]
"""In their order, each with its container."""


def restore_checkpoints(
    plan: JobPlan,
    host: HostPlan,
    delivery: "Delivery | None" = None,
    copying: Copying = unbroken,
) -> None:
    """Bring the checkpoints to one host, whose folders exist, and remember which; `StagingError` when it fails.

    Objects of S3 are downloaded for the first host, into the folder that stands for the prefix from then on; where
    they are mirrored to S3, into one of this attempt.
    """
    if plan.checkpoints is None:
        return
    import json  # most jobs have no checkpoints

    from smlocal.channels.checkpoints import restore
    from smlocal.job.mirrored.folders import record_path

    with copying() as check:
        listing = plan.checkpoints.listing
        if listing.remote and delivery is not None:
            listing = _brought(plan.checkpoints, plan, delivery)
        restored = restore(listing, checkpoint_directory(plan, host), check=check)
    with open(record_path(plan, host), "w", encoding="ascii") as record:
        json.dump(asdict(restored), record)


def fetch_checkpoints(plan: JobPlan, delivery: "Delivery", copying: Copying) -> None:
    """Bring what S3 has of them to this machine, before the hosts get it all at once."""
    if plan.checkpoints is not None and plan.checkpoints.listing.remote:
        with copying():
            _brought(plan.checkpoints, plan, delivery)


def drop_fetched(plan: JobPlan) -> None:
    """Every host has its own copy by now."""
    if plan.checkpoints is not None and plan.checkpoints.listing.remote:
        remove_tree(_fetched_to(plan))


def _brought(checkpoints: CheckpointPlan, plan: JobPlan, delivery: "Delivery") -> Listing:
    return _downloaded(plan, delivery) if checkpoints.s3_prefix is None else _fetched(plan, delivery)


def _downloaded(plan: JobPlan, delivery: "Delivery") -> Listing:
    """The folder that stands for a prefix in S3, with what the prefix holds; made once in an attempt."""
    checkpoints = plan.checkpoints
    assert checkpoints is not None  # noqa: S101  it has been looked at
    directory = checkpoints.directory
    if not delivery.checkpoints_are_here:
        if os.path.lexists(directory):
            aside = f"{directory}-until-{plan.run_id}"
            os.rename(directory, aside)
            delivery.reporter.warning(f"{directory} already existed, from an earlier job; it was moved to {aside}")
        if checkpoints.listing.paths or checkpoints.listing.failure is not None:
            _download(checkpoints.listing, directory, plan.run_id, delivery)
        delivery.checkpoints_are_here = True
    return _here(checkpoints.listing, directory)


def _fetched(plan: JobPlan, delivery: "Delivery") -> Listing:
    """What the prefix holds, in a folder that goes with the attempt."""
    checkpoints = plan.checkpoints
    assert checkpoints is not None  # noqa: S101  it has been looked at
    directory = _fetched_to(plan)
    if not os.path.isdir(directory):
        _download(checkpoints.listing, directory, plan.run_id, delivery)
    return _here(checkpoints.listing, directory)


def _fetched_to(plan: JobPlan) -> str:
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


def _here(listing: Listing, directory: str) -> Listing:
    """What the folder holds by now, under the names of the prefix in S3."""
    from smlocal.sources.checkpoints import list_again

    return list_again(replace(listing, root=directory, keys=(), sizes=(), etags=()))


def checkpoint_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """What is mounted for the checkpoints alone; nothing where they lie in a folder that is mounted anyway."""
    checkpoints = plan.checkpoints
    if checkpoints is None or not checkpoints.own_mount:
        return ()
    return (Mount(source=checkpoint_directory(plan, host), target=checkpoints.local_path),)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """What became of all that is mirrored."""

    notes: tuple[str, ...] = ()
    unsent: tuple[tuple[str, str], ...] = ()
    """What S3 did not take: the prefix that it is meant for, and the local folder with it."""
    error: ArtifactError | None = None
    """Why not all of it is where it is meant to be."""


def save_mirrored(
    plan: JobPlan,
    hosts: Iterable[tuple[HostPlan, str]],
    engine: Engine,
    *,
    given_up: Callable[[], bool] = lambda: False,
    working: Callable[[str], None] = lambda _: None,
) -> Saved:
    """Save what the hosts, in their order and each with its container, have made of what is mirrored.

    For containers that have ended and whose folders are still there, and when no mirror runs any more. To call it
    again, also from another process, does no harm. `given_up` is asked all the time whether somebody does not want to
    wait, and `working` is told now and then how far it is.
    """
    if plan.checkpoints is None and not plan.collectors:
        return Saved()
    from smlocal.job.mirrored.folders import S3Access, mirrored_folders  # most jobs have no such folder

    pairs = list(hosts)
    notes: list[str] = []
    unsent: list[tuple[str, str]] = []
    errors: list[ArtifactError] = []
    for folder in mirrored_folders(plan, S3Access(given_up=given_up, working=working, side_by_side=_SIDE_BY_SIDE)):
        trees: list[HostTree] = []
        try:
            trees += _trees(folder, pairs, engine)
            report = _save(folder, trees, pairs)
        except ArtifactError as error:
            errors.append(error)
            if folder.s3_prefix is not None and trees and _keep(folder, trees, pairs):
                notes.append(f"files that are missing in {folder.s3_prefix} are in {folder.kept}")
                unsent.append((folder.s3_prefix, folder.kept))
        else:
            notes += [*report.notes, *map(str, report.clashes)]
    return Saved(notes=tuple(notes), unsent=tuple(unsent), error=errors[0] if errors else None)


def save_folder(folder: "MirroredFolder", hosts: _Hosts, engine: Engine) -> "SaveReport":
    """Save one of the folders, as `save_mirrored`; `ArtifactError` when it cannot be done."""
    return _save(folder, _trees(folder, hosts, engine), hosts)


def _trees(folder: "MirroredFolder", hosts: _Hosts, engine: Engine) -> list[HostTree]:
    return [_tree(folder, host, container, engine) for host, container in hosts]


def _save(folder: "MirroredFolder", trees: Sequence[HostTree], hosts: _Hosts) -> "SaveReport":
    from smlocal.artifacts.checkpoints import save

    journal = folder.journal()
    report = save(
        trees,
        folder.target,
        restored=[journal.up_to_date(host.host.name, folder.given(host)) for host, _ in hosts],
        owners=journal.owners,
        here=folder.plan.engine.local,
    )
    clashes = {clash.path: clash for clash in (*journal.clashes.values(), *report.clashes)}
    return replace(report, clashes=tuple(clashes.values()))


def _keep(folder: "MirroredFolder", trees: Sequence[HostTree], hosts: _Hosts) -> bool:
    """Save to the local folder what S3 does not take; False when there is nothing, or it cannot be had there either."""
    from smlocal.artifacts.mirror.place import FolderTarget

    target = FolderTarget(path=folder.kept, run_id=folder.plan.run_id)
    try:
        return bool(_save(replace(folder, target=target), trees, hosts).written)
    except ArtifactError:
        return False


def with_checkpoints_of_now(plan: JobPlan) -> JobPlan:
    """The plan of a later attempt: what has been saved meanwhile is restored, and stands in the manifest."""
    if plan.checkpoints is None:
        return plan
    checkpoints = plan.checkpoints
    if checkpoints.s3_prefix is not None:
        listing = _in_s3(plan.region, checkpoints)
    elif checkpoints.listing.remote and not os.path.isdir(checkpoints.directory):
        return plan  # nothing was downloaded yet, nor written
    else:
        listing = _here(checkpoints.listing, checkpoints.directory)
    files = {paths.CHECKPOINTS_MANIFEST: manifest(listing)}
    return replace(
        plan,
        checkpoints=replace(plan.checkpoints, listing=listing),
        hosts=tuple(replace(host, files={**host.files, **files}) for host in plan.hosts),
    )


def _in_s3(region: str, checkpoints: CheckpointPlan) -> Listing:
    """What the prefix holds by now; the attempt fails where S3 does not say so."""
    from smlocal.sources.checkpoints import list_prefix
    from smlocal.sources.s3.client import open_store
    from smlocal.sources.s3.interface import S3Error
    from smlocal.sources.s3.words import download_failure

    listing = checkpoints.listing
    try:
        return list_prefix(open_store(region), listing.bucket_uri, listing.prefix)
    except S3Error as error:
        return listing.failed(download_failure(error))
    except MachineNotReadyError as error:  # nobody is logged in any more
        return listing.failed(error.sentence)


def _tree(folder: "MirroredFolder", host: HostPlan, container: str, engine: Engine) -> HostTree:
    directory = folder.directory(host)
    if not _is_folder(directory, host_directory(folder.plan, host)):
        return HostTree(host=host.host.name, root=os.fsencode(directory), entries=())
    return host_tree(
        host.host.name,
        directory,
        engine=engine,
        container=container,
        path=folder.local_path,
        spool=f"{folder.plan.job_directory}/staged/{host.host.name}-{folder.name}",
        here=folder.plan.engine.local,
    )


def _is_folder(directory: str, above: str) -> bool:
    """False for what the container has deleted or made a link of, here or on the way: no link of its is followed."""
    current = above
    for name in directory.removeprefix(f"{above}/").split("/"):
        current = f"{current}/{name}"
        try:
            if not stat.S_ISDIR(os.lstat(current).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return False
        except PermissionError:
            return True  # the engine is asked, and it looks from inside the container
        except OSError as error:
            raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[current]) from error
    return True
