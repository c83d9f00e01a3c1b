"""Mirror checkpoints and other folders while the containers of an attempt run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from smlocal.planning.model import JobPlan

_RETRY_SECONDS = 10.0
"""Short, because the end of the job has to wait for it, and everything is saved again then."""


@contextmanager
def mirroring(
    plan: JobPlan, *, cancelled: Callable[[], bool], requested: Callable[[], bool], notes: list[str]
) -> Iterator[None]:
    """Mirror while containers may write, and no longer: cleaning up must not look like files that they deleted.

    Once `cancelled` returns True, the file that is being copied is given up, and at the end also if `requested` does:
    nobody handles a request while the mirrors are waited for. The save at the end of the job copies the file again.
    What went wrong is added to `notes`.
    """
    # What an engine without these folders has can only be read when the container has ended.
    if not plan.engine.shares_folders or (plan.checkpoints is None and not plan.collectors):
        yield
        return
    from smlocal.artifacts.mirror.mirror import Mirror, MirroredHost  # most jobs have no such folder
    from smlocal.artifacts.mirror.target import FileChangedError
    from smlocal.job.mirrored.folders import Access, mirrored_folders

    ending = False

    def given_up() -> bool:
        return cancelled() or (ending and requested())

    def check() -> None:
        if given_up():
            raise FileChangedError  # to be copied later

    access = Access(retry_seconds=_RETRY_SECONDS, cancelled=given_up, check=check)
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
