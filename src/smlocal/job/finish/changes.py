"""The files that containers wrote outside of the folders that the service keeps or provides."""

import os.path
from collections.abc import Iterable, Sequence
from contextlib import suppress

from smlocal.errors import EngineError
from smlocal.job.host.host_run import HostRun

_PROVIDED = ("/opt/smlocal/", "/tmp/", "/dev/", "/proc/", "/sys/")  # noqa: S108 - a folder of the container
_OF_THE_ENGINE = frozenset(
    {"/etc", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/mtab", "/run", "/run/.containerenv"}
)
_MOST = 1000


def changed_files(runs: Iterable[HostRun]) -> dict[str, list[str]]:
    """Of each host whose container its engine can tell about; at most a thousand for each."""
    found = {}
    for run in runs:
        with suppress(EngineError):
            found[run.name] = outside(run.engine.changes(run.container.id), root=run.plan.folders.root)[:_MOST]
    return found


def outside(changed: Sequence[str], *, root: str) -> list[str]:
    """The files among the changed paths, and folders without changed files, that are the image's own matter.

    `root`: the folder that the platform provides.
    """
    provided = (f"{root}/", *_PROVIDED)
    parents = {parent for path in changed for parent in _parents(path)}
    return sorted(
        path
        for path in changed
        if path not in parents and path not in _OF_THE_ENGINE and not f"{path}/".startswith(provided)
    )


def _parents(path: str) -> Iterable[str]:
    while path != (path := os.path.dirname(path)):
        yield path
