"""The folders of the hosts that are mirrored while the job runs, and saved at its end: where they lie, and where to."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from smlocal.artifacts.mirror.place import FolderTarget, Target
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.planning.collectors import CollectorPlan
from smlocal.planning.document import checkpoint_directory, collector_directory, host_directory
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.artifacts.mirror.journal import Journal
    from smlocal.sources.s3.client import S3Client


_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Access:
    """How long to wait for S3, and who hears of it."""

    patience: float = _PATIENCE
    """Seconds without any progress."""
    given_up: Callable[[], bool] = lambda: False
    """Asked all the time whether somebody does not want to wait at all."""
    working: Callable[[str], None] | None = None
    """Told some times a second how far a large file is."""
    side_by_side: int = 1
    """How many small files are sent at the same time, when nobody writes them any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredFolder:
    """One folder that every host has for itself, and the target that they share."""

    plan: JobPlan
    name: str
    local_path: str
    """In the container."""
    target: Target
    grows: bool = False
    """True for logs that stay open: they are mirrored as far as they go."""
    s3_prefix: str | None = None
    """What the target is in S3, where it is there."""
    kept: str = ""
    """Then the local folder for what S3 does not take in the end."""
    collector: CollectorPlan | None = None
    """None for the checkpoints."""

    def directory(self, host: HostPlan) -> str:
        """Where it lies on this machine while the job runs."""
        if self.collector is not None:
            return collector_directory(self.plan, host, self.collector)
        return checkpoint_directory(self.plan, host)

    @property
    def journal_path(self) -> str:
        """Beside the folders that the containers see, so that a supervisor who takes over finds it."""
        return f"{self.plan.job_directory}/hosts/{self.name}.journal"

    def journal(self) -> "Journal":
        """What has been mirrored so far."""
        from smlocal.artifacts.mirror.journal import Journal

        return Journal.read(self.journal_path)

    def given(self, host: HostPlan) -> Restored:
        """What a host found in it; nothing when that is not known, and then all that it has counts as written."""
        if self.collector is not None:
            return Restored(directory=self.directory(host))
        try:
            with open(record_path(self.plan, host), encoding="ascii") as record:
                document = json.load(record)
        except (OSError, ValueError):
            return Restored(directory=self.directory(host))
        return Restored(
            directory=document["directory"], files={path: Stamp(**stamp) for path, stamp in document["files"].items()}
        )


def mirrored_folders(plan: JobPlan, s3: S3Access | None = None) -> tuple[MirroredFolder, ...]:
    """Every one that the job has; `s3` is how to go to S3, for those that are there."""
    s3 = s3 or S3Access()
    found = [
        MirroredFolder(
            plan=plan,
            name=collector.name,
            local_path=collector.local_path,
            target=_target(plan, collector.name, collector.s3_prefix, collector.directory, s3),
            grows=collector.grows,
            s3_prefix=collector.s3_prefix,
            kept=collector.directory,
            collector=collector,
        )
        for collector in plan.collectors
    ]
    checkpoints = plan.checkpoints
    if checkpoints is not None:
        found.append(
            MirroredFolder(
                plan=plan,
                name="checkpoints",
                local_path=checkpoints.local_path,
                target=_target(plan, "checkpoints", checkpoints.s3_prefix, checkpoints.directory, s3),
                s3_prefix=checkpoints.s3_prefix,
                kept=checkpoints.directory,
            )
        )
    return tuple(found)


def _target(plan: JobPlan, name: str, s3_prefix: str | None, directory: str, s3: S3Access) -> Target:
    if s3_prefix is None:
        return FolderTarget(path=directory, run_id=plan.run_id)
    from smlocal.artifacts.mirror.s3_place import S3Target  # of a job that publishes
    from smlocal.job.finish.open_uploads import OpenUploads, uploads_of
    from smlocal.job.finish.publish import kms_key, place_of

    journal = OpenUploads(plan.job_directory, uploads_of(name))

    def open_client() -> "S3Client":
        from smlocal.sources.s3.client import open_store

        client = open_store(plan.region, patience=s3.patience)
        journal.take_back(client)
        return client

    return S3Target(
        prefix=place_of(s3_prefix, kms_key(plan.request)),
        open_store=open_client,
        journal=journal,
        given_up=s3.given_up,
        working=s3.working,
        side_by_side=s3.side_by_side,
    )


def record_path(plan: JobPlan, host: HostPlan) -> str:
    """Where it is kept which checkpoints a host was given."""
    return f"{host_directory(plan, host)}/restored-checkpoints.json"
