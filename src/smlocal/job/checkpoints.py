"""Checkpoints of one job: brought to every host before its container is made, saved when the containers have ended."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.fetch import host_tree
from smlocal.artifacts.tree import HostTree
from smlocal.contract import paths
from smlocal.contract.listing import Listing
from smlocal.contract.manifest import manifest
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import ArtifactError
from smlocal.plan.document import checkpoint_directory, host_directory
from smlocal.plan.model import CheckpointPlan, HostPlan, JobPlan

if TYPE_CHECKING:
    from smlocal.artifacts.checkpoints import SaveReport
    from smlocal.job.delivery import Delivery
    from smlocal.job.mirrored import MirroredFolder


def restore_checkpoints(
    plan: JobPlan,
    host: HostPlan,
    delivery: "Delivery | None" = None,
    copying: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Bring the checkpoints to one host, whose folders exist, and remember which; `StagingError` when it fails.

    Objects of S3 are downloaded for the first host, into the folder that stands for the prefix from then on.
    """
    if plan.checkpoints is None:
        return
    import json  # most jobs have no checkpoints

    from smlocal.channels.checkpoints import restore
    from smlocal.job.mirrored import record_path

    listing = plan.checkpoints.listing
    if listing.remote and delivery is not None:
        with copying():
            listing = _downloaded(plan, delivery)
    restored = restore(listing, checkpoint_directory(plan, host))
    with open(record_path(plan, host), "w", encoding="ascii") as record:
        json.dump(asdict(restored), record)


def _downloaded(plan: JobPlan, delivery: "Delivery") -> Listing:
    """The folder that stands for a prefix in S3, with what the prefix holds; made once in an attempt."""
    checkpoints = plan.checkpoints
    assert checkpoints is not None  # noqa: S101  it has been looked at
    directory = checkpoints.directory
    if not delivery.checkpoints_are_here:
        from smlocal.channels.checkpoints import download

        if os.path.lexists(directory):
            aside = f"{directory}-until-{plan.run_id}"
            os.rename(directory, aside)
            delivery.reporter.warning(f"{directory} was there already, of an earlier job: it is {aside} now")
        if checkpoints.listing.paths or checkpoints.listing.failure is not None:
            os.makedirs(os.path.dirname(directory), exist_ok=True)
            download(
                checkpoints.listing,
                directory,
                draft=f"{directory}-{plan.run_id}.partial",
                store=delivery.store(),
                progress=lambda progress: delivery.reporter.working(progress.sentence("checkpoints")),
            )
        delivery.checkpoints_are_here = True
    return _here(checkpoints)


def _here(checkpoints: CheckpointPlan) -> Listing:
    """What the folder holds by now, under the names of the prefix in S3."""
    from smlocal.sources.checkpoints import list_again

    return list_again(replace(checkpoints.listing, root=checkpoints.directory, keys=(), sizes=(), etags=()))


def checkpoint_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """What is mounted for the checkpoints alone; nothing where they lie in a folder that is mounted anyway."""
    checkpoints = plan.checkpoints
    if checkpoints is None or not checkpoints.own_mount:
        return ()
    return (Mount(source=checkpoint_directory(plan, host), target=checkpoints.local_path),)


def save_mirrored(plan: JobPlan, hosts: Iterable[tuple[HostPlan, str]], engine: Engine) -> list[str]:
    """Save what the hosts, in their order and each with its container, have made of what is mirrored; notes on it.

    For containers that have ended and whose folders are still there, and when no mirror runs any more. `ArtifactError`
    when it cannot be done; to call it again, also from another process, does no harm.
    """
    if plan.checkpoints is None and not plan.collectors:
        return []
    from smlocal.job.mirrored import mirrored_folders  # most jobs have no such folder

    pairs = list(hosts)
    reports = [save_folder(folder, pairs, engine) for folder in mirrored_folders(plan)]
    return [note for report in reports for note in (*report.notes, *map(str, report.clashes))]


def save_folder(folder: "MirroredFolder", hosts: Sequence[tuple[HostPlan, str]], engine: Engine) -> "SaveReport":
    """Save one of the folders, as `save_mirrored`."""
    from smlocal.artifacts.checkpoints import save

    journal = folder.journal()
    report = save(
        [_tree(folder, host, container, engine) for host, container in hosts],
        folder.target,
        restored=[journal.up_to_date(host.host.name, folder.given(host)) for host, _ in hosts],
        owners=journal.owners,
        here=folder.plan.engine.local,
    )
    clashes = {clash.path: clash for clash in (*journal.clashes.values(), *report.clashes)}
    return replace(report, clashes=tuple(clashes.values()))


def with_checkpoints_of_now(plan: JobPlan) -> JobPlan:
    """The plan of a later attempt: what has been saved meanwhile is restored, and stands in the manifest."""
    if plan.checkpoints is None:
        return plan
    if plan.checkpoints.listing.remote and not os.path.isdir(plan.checkpoints.directory):
        return plan  # nothing was downloaded yet, nor written
    listing = _here(plan.checkpoints)
    files = {paths.CHECKPOINTS_MANIFEST: manifest(listing)}
    return replace(
        plan,
        checkpoints=replace(plan.checkpoints, listing=listing),
        hosts=tuple(replace(host, files={**host.files, **files}) for host in plan.hosts),
    )


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
