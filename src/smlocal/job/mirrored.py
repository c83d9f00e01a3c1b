"""The folders of the hosts that are mirrored while the job runs, and saved at its end: where they lie, and where to."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smlocal.artifacts.mirror.place import FolderTarget, Target
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.plan.collectors import CollectorPlan
from smlocal.plan.document import checkpoint_directory, collector_directory, host_directory
from smlocal.plan.model import HostPlan, JobPlan

if TYPE_CHECKING:
    from smlocal.artifacts.mirror.journal import Journal


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


def mirrored_folders(plan: JobPlan) -> tuple[MirroredFolder, ...]:
    """Every one that the job has."""
    found = [
        MirroredFolder(
            plan=plan,
            name=collector.name,
            local_path=collector.local_path,
            target=FolderTarget(path=collector.directory, run_id=plan.run_id),
            grows=collector.grows,
            collector=collector,
        )
        for collector in plan.collectors
    ]
    checkpoints = plan.checkpoints
    if checkpoints is not None:
        target = FolderTarget(path=checkpoints.directory, run_id=plan.run_id)
        found.append(MirroredFolder(plan=plan, name="checkpoints", local_path=checkpoints.local_path, target=target))
    return tuple(found)


def record_path(plan: JobPlan, host: HostPlan) -> str:
    """Where it is kept which checkpoints a host was given."""
    return f"{host_directory(plan, host)}/restored-checkpoints.json"
