"""The folders that are mirrored while containers run and saved at the end of their job; checkpoints restored before."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, Copying, no_check, remove_tree, unbroken
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Mount
from smlocal.errors import MachineNotReadyError
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.planning.aspects.mirrored.plan import CheckpointPlan, CollectorPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, checkpoint_directory, collector_directory, host_directory
from smlocal.terms.checkpoints import Restored, Stamp
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.artifacts.mirror import target as targets
    from smlocal.data.channels.download_channel import download, restore
    from smlocal.data.sources.channel import list_again, list_prefix
    from smlocal.data.sources.s3 import interface as s3
    from smlocal.data.sources.s3.client import S3Client, open_store
    from smlocal.data.sources.s3.error_responses import download_failure
    from smlocal.engine.place import is_in_home
else:
    is_in_home = at_use("smlocal.engine.place", "is_in_home")
    s3 = at_use("smlocal.data.sources.s3.interface")
    targets = at_use("smlocal.data.artifacts.mirror.target")
    download = at_use("smlocal.data.channels.download_channel", "download")
    restore = at_use("smlocal.data.channels.download_channel", "restore")
    download_failure = at_use("smlocal.data.sources.s3.error_responses", "download_failure")
    open_store = at_use("smlocal.data.sources.s3.client", "open_store")
    list_again = at_use("smlocal.data.sources.channel", "list_again")
    list_prefix = at_use("smlocal.data.sources.channel", "list_prefix")

_RETRY_SECONDS = 60.0
_MIRROR_RETRY_SECONDS = 10.0
"""Short, because the end of the job has to wait for it, and everything is saved again then."""
OWN_FOLDER = "tensors"
"""In the folder of a job, and only where rules need one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How S3 and local folders are used."""

    retry_seconds: float = _RETRY_SECONDS
    """Seconds without any progress, after which an upload fails."""
    cancelled: Callable[[], bool] = lambda: False
    """Returns True once the user does not want to wait."""
    check: Check = no_check
    """Called between pieces of files that are copied to local folders; it may raise."""
    working: Callable[[str], None] | None = None
    """Called several times a second with the state of a large file."""
    at_once: int = 1
    """How many small files are sent at the same time, once nothing writes to them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredFolder:
    """A folder that every host has, and the target that they share."""

    plan: JobPlan
    name: str
    local_path: str
    """In the container."""
    target: "targets.Target"
    grows: bool = False
    """True for logs that stay open. They are mirrored as far as they are written."""
    s3_prefix: str | None = None
    """The target, if it is in S3."""
    fallback: str = ""
    """The local folder for files that could not be sent to S3."""
    collector: CollectorPlan | None = None
    """None for the checkpoints."""

    def directory(self, host: HostPlan) -> str:
        """The local folder while the job runs."""
        if self.collector is not None:
            return collector_directory(self.plan, host, self.collector)
        return checkpoint_directory(self.plan, host)

    @property
    def continuous(self) -> bool:
        """False if it is saved at the end of the job only."""
        return self.collector is None or self.collector.continuous

    @property
    def end_marker(self) -> str | None:
        """The file that says that no more files follow; None for a folder without one."""
        return None if self.collector is None else self.collector.end_marker

    @property
    def state_path(self) -> str:
        """In the job's folder, so that a later supervisor finds it."""
        return f"{self.plan.job_directory}/hosts/{self.name}.journal"

    def state(self) -> "targets.MirrorState":
        """The files mirrored so far."""
        return targets.MirrorState.read(self.state_path)

    def restored(self, host: HostPlan) -> Restored:
        """The files restored to it. If that is not known: nothing, and everything counts as written by the host."""
        if self.collector is not None:
            return Restored(directory=self.directory(host))
        try:
            with open(restored_record_path(self.plan, host), encoding="ascii") as record:
                document = json.load(record)
        except (OSError, ValueError):
            return Restored(directory=self.directory(host))
        return Restored(
            directory=document["directory"], files={path: Stamp(**stamp) for path, stamp in document["files"].items()}
        )


def mirrored_folders(plan: JobPlan, access: Access | None = None) -> tuple[MirroredFolder, ...]:
    """All of the job."""
    access = access or Access()
    folders = [
        MirroredFolder(
            plan=plan,
            name=collector.name,
            local_path=collector.local_path,
            target=_target(plan, collector.name, collector.s3_prefix, collector.directory, access),
            grows=collector.grows,
            s3_prefix=collector.s3_prefix,
            fallback=collector.directory,
            collector=collector,
        )
        for collector in plan.mirrored.collectors
    ]
    if (own := _own_rule_tensors(plan)) is not None:
        folders.insert(0, _for_rules(plan, *own, check=access.check))
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is not None:
        folders.append(
            MirroredFolder(
                plan=plan,
                name="checkpoints",
                local_path=checkpoints.local_path,
                target=_target(plan, "checkpoints", checkpoints.s3_prefix, checkpoints.directory, access),
                s3_prefix=checkpoints.s3_prefix,
                fallback=checkpoints.directory,
            )
        )
    return tuple(folders)


def _for_rules(plan: JobPlan, collector: CollectorPlan, folder: str, *, check: Check) -> MirroredFolder:
    """The tensors once more, for the rules of the job."""
    return MirroredFolder(
        plan=plan,
        name="rule-tensors",
        local_path=collector.local_path,
        target=targets.FolderTarget(path=folder, run_id=plan.run_id, check=check),
        fallback=folder,
        collector=collector,
    )


def _target(plan: JobPlan, name: str, s3_prefix: str | None, directory: str, access: Access) -> "targets.Target":
    if s3_prefix is None:
        return targets.FolderTarget(path=directory, run_id=plan.run_id, links=plan.rights.links, check=access.check)
    from smlocal.data.artifacts.mirror.s3_target import S3Target  # few jobs use S3
    from smlocal.jobs.finish.publish import OpenUploads, journal_name, target_of

    journal = OpenUploads(plan.job_directory, journal_name(name))

    def open_client() -> "S3Client":
        client = open_store(plan.identity.region, rights=plan.rights, retry_seconds=access.retry_seconds)
        journal.abort_all(client)
        return client

    return S3Target(
        prefix=target_of(s3_prefix, plan.output.kms_key),
        open_store=open_client,
        journal=journal,
        cancelled=access.cancelled,
        working=access.working,
        at_once=access.at_once,
    )


def restored_record_path(plan: JobPlan, host: HostPlan) -> str:
    """The file that says which checkpoints were restored to a host."""
    return f"{host_directory(plan, host)}/restored-checkpoints.json"


def prepare_rule_tensors(plan: JobPlan) -> None:
    """Make a folder of the job's own if its tensors go to S3, or to a folder in which an earlier job left some."""
    collector = _collector(plan)
    if collector is None:
        return
    hidden = plan.engines.first.place is not None and not is_in_home(collector.directory)
    if hidden or collector.s3_prefix is not None or _has_files(collector.directory):
        os.makedirs(_own_folder(plan), exist_ok=True)


def _own_rule_tensors(plan: JobPlan) -> tuple[CollectorPlan, str] | None:
    """The collector of tensors and the folder of the job's own, if there is one."""
    collector = _collector(plan) if plan.rules.each else None
    return (collector, _own_folder(plan)) if collector is not None and os.path.isdir(_own_folder(plan)) else None


def rule_tensors(plan: JobPlan) -> str | None:
    """The folder that rules read; None if the job saves no tensors."""
    own, collector = _own_rule_tensors(plan), _collector(plan)
    if own is not None:
        return own[1]
    return None if collector is None else collector.directory


def _collector(plan: JobPlan) -> CollectorPlan | None:
    return next((each for each in plan.mirrored.collectors if each.end_marker is not None), None)


def _own_folder(plan: JobPlan) -> str:
    return f"{plan.job_directory}/{OWN_FOLDER}"


def _has_files(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except FileNotFoundError:
        return False
    except OSError:
        return True


@contextmanager
def mirroring(
    plan: JobPlan, *, cancelled: Callable[[], bool], requested: Callable[[], bool], notes: list[str]
) -> Iterator[None]:
    """Mirror while containers may write, and no longer: cleaning up must not look like files that they deleted.

    Once `cancelled` returns True, the file that is being copied is given up, and at the end also once `requested` does:
    no request is handled while the mirrors are waited for. The save at the end of the job copies the file again.
    Problems are added to `notes`.
    """
    # Files on an engine without these folders can only be read when the container has ended.
    continuous = plan.mirrored.checkpoints is not None or any(each.continuous for each in plan.mirrored.collectors)
    if not plan.engines.first.shares_folders or not continuous:
        yield
        return
    from smlocal.data.artifacts.mirror.mirror import Mirror, MirroredHost  # most jobs have no such folder

    ending = False

    def given_up() -> bool:
        return cancelled() or (ending and requested())

    def check() -> None:
        if given_up():
            raise targets.FileChangedError  # to be copied later

    access = Access(retry_seconds=_MIRROR_RETRY_SECONDS, cancelled=given_up, check=check)
    mirrors = [
        Mirror(
            name=folder.name,
            hosts=[
                MirroredHost(host=host.host.name, directory=folder.directory(host), restored=folder.restored(host))
                for host in plan.hosts
            ],
            target=folder.target,
            state_path=folder.state_path,
            grows=folder.grows,
        )
        for folder in mirrored_folders(plan, access)
        if folder.continuous
    ]
    try:
        for mirror in mirrors:
            mirror.start()
        yield
    finally:
        ending = True
        for mirror in mirrors:
            mirror.stop()
            notes += mirror.notes


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
    listing = checkpoints.listing
    try:
        return list_prefix(open_store(plan.identity.region, rights=plan.rights), listing.bucket_uri, listing.prefix)
    except s3.S3Error as error:
        return listing.failed(download_failure(error))
    except MachineNotReadyError as error:  # there are no credentials any more
        return listing.failed(error.sentence)
