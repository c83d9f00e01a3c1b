"""The checkpoints of one job: restored before containers are created."""

import json
import os
from dataclasses import asdict, replace

from smlocal.base.removal import remove_tree
from smlocal.data.channels.checkpoints import download, restore
from smlocal.data.channels.interface import Copying, unbroken
from smlocal.data.sources.s3.error_responses import download_failure
from smlocal.data.sources.s3.interface import S3Error
from smlocal.engine.interface import Mount
from smlocal.errors import MachineNotReadyError
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.mirrored.folders import restored_record_path
from smlocal.jobs.planning.aspects.mirrored.plan import CheckpointPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, checkpoint_directory
from smlocal.terms.listing import Listing


def restore_checkpoints(
    plan: JobPlan,
    host: HostPlan,
    delivery: Delivery | None = None,
    copying: Copying = unbroken,
) -> None:
    """Restore the checkpoints to one host and record which; `StagingError` if that fails.

    Objects in S3 are downloaded for the first host only.
    """
    if plan.mirrored.checkpoints is None:
        return

    with copying() as check:
        listing = plan.mirrored.checkpoints.listing
        if listing.remote and delivery is not None:
            listing = _downloaded(plan, plan.mirrored.checkpoints, delivery)
        restored = restore(listing, checkpoint_directory(plan, host), check=check)
    with open(restored_record_path(plan, host), "w", encoding="ascii") as record:
        json.dump(asdict(restored), record)


def download_checkpoints(plan: JobPlan, delivery: Delivery, copying: Copying) -> None:
    """Download the checkpoints from S3, before they are restored to several hosts in parallel."""
    if plan.mirrored.checkpoints is not None and plan.mirrored.checkpoints.listing.remote:
        with copying():
            _downloaded(plan, plan.mirrored.checkpoints, delivery)


def delete_downloaded_checkpoints(plan: JobPlan) -> None:
    """Delete the downloaded checkpoints; every host has its own copy."""
    if plan.mirrored.checkpoints is not None and plan.mirrored.checkpoints.listing.remote:
        remove_tree(_attempt_directory(plan))


def _downloaded(plan: JobPlan, checkpoints: CheckpointPlan, delivery: Delivery) -> Listing:
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


def _download(listing: Listing, directory: str, run_id: str, delivery: Delivery) -> None:
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
    from smlocal.data.sources.checkpoints import list_again

    return list_again(replace(listing, root=directory, keys=(), sizes=(), etags=()))


def checkpoint_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The mount for checkpoints; none if they are in a folder that is mounted anyway."""
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is None or not checkpoints.own_mount:
        return ()
    return (Mount(source=checkpoint_directory(plan, host), target=checkpoints.local_path),)


def with_current_checkpoints(plan: JobPlan) -> JobPlan:
    """The plan of the next attempt, which restores the files that were saved meanwhile."""
    if plan.mirrored.checkpoints is None:
        return plan
    checkpoints = plan.mirrored.checkpoints
    if checkpoints.s3_prefix is not None:
        listing = _in_s3(plan, checkpoints)
    elif checkpoints.listing.remote and not os.path.isdir(checkpoints.directory):
        return plan  # nothing was downloaded or written yet
    else:
        listing = _local(checkpoints.listing, checkpoints.directory)
    return replace(plan, mirrored=replace(plan.mirrored, checkpoints=replace(checkpoints, listing=listing)))


def _in_s3(plan: JobPlan, checkpoints: CheckpointPlan) -> Listing:
    """The current objects of the prefix. If they cannot be listed, the attempt fails."""
    from smlocal.data.sources.checkpoints import list_prefix
    from smlocal.data.sources.s3.client import open_store

    listing = checkpoints.listing
    try:
        return list_prefix(open_store(plan.identity.region, rights=plan.rights), listing.bucket_uri, listing.prefix)
    except S3Error as error:
        return listing.failed(download_failure(error))
    except MachineNotReadyError as error:  # there are no credentials any more
        return listing.failed(error.sentence)
