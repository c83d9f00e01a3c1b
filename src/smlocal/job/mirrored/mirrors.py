"""Mirrors beside the containers of one attempt: begun with them, and stopped before anything is saved or cleared."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass

_PATIENCE = 10.0
"""Seconds without progress, while there is time to try again: so long may the end of the job have to wait for it."""


@dataclass(kw_only=True, slots=True)
class Mirrors:
    """Of the checkpoints and the other folders whose files are wanted while the job runs."""

    plan: JobPlan
    given_up: Callable[[], bool] = lambda: False
    """Asked all the time whether somebody does not want to wait for S3."""
    notes: list[str] = field(default_factory=list)
    """What was not as it should be."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mirror for as long as containers may write.

        Not a moment longer: when their folders are cleared nothing of it may look as if they had deleted their files.
        """
        # What a container writes on another machine is seen only when it has ended.
        if not self.plan.engine.local or (self.plan.checkpoints is None and not self.plan.collectors):
            yield
            return
        from smlocal.artifacts.mirror.mirror import Mirror, MirroredHost  # most jobs have no such folder
        from smlocal.job.mirrored.folders import S3Access, mirrored_folders

        mirrors = [
            Mirror(
                name=folder.name,
                hosts=[
                    MirroredHost(host=host.host.name, directory=folder.directory(host), given=folder.given(host))
                    for host in self.plan.hosts
                ],
                target=folder.target,
                journal_path=folder.journal_path,
                grows=folder.grows,
            )
            for folder in mirrored_folders(self.plan, S3Access(patience=_PATIENCE, given_up=self.given_up))
        ]
        try:
            for mirror in mirrors:
                mirror.begin()
            yield
        finally:
            for mirror in mirrors:
                mirror.stop()
                self.notes += mirror.notes
