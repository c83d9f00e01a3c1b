"""Mirror checkpoints and other folders while the containers of an attempt run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass

_RETRY_SECONDS = 10.0
"""Short, because the end of the job has to wait for it, and everything is saved again then."""


@dataclass(kw_only=True, slots=True)
class Mirrors:
    """The mirrors of one attempt."""

    plan: JobPlan
    cancelled: Callable[[], bool] = lambda: False
    """Returns True once the user does not want to wait for S3."""
    notes: list[str] = field(default_factory=list)
    """What went wrong."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mirror while containers may write, and no longer: cleaning up must not look like files that they deleted."""
        # Files on another machine can only be read when the container has ended.
        if not self.plan.engine.local or (self.plan.checkpoints is None and not self.plan.collectors):
            yield
            return
        from smlocal.artifacts.mirror.mirror import Mirror, MirroredHost  # most jobs have no such folder
        from smlocal.job.mirrored.folders import S3Access, mirrored_folders

        mirrors = [
            Mirror(
                name=folder.name,
                hosts=[
                    MirroredHost(host=host.host.name, directory=folder.directory(host), given=folder.restored(host))
                    for host in self.plan.hosts
                ],
                target=folder.target,
                journal_path=folder.journal_path,
                grows=folder.grows,
            )
            for folder in mirrored_folders(self.plan, S3Access(retry_seconds=_RETRY_SECONDS, cancelled=self.cancelled))
        ]
        try:
            for mirror in mirrors:
                mirror.begin()
            yield
        finally:
            for mirror in mirrors:
                mirror.stop()
                self.notes += mirror.notes
