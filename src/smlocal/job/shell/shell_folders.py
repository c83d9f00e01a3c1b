"""The folder of each open shell, and what shells that were killed have left."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.interface import Engine
from smlocal.errors import SmlocalError
from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree
from smlocal.store.lease import Lease, leased_folders, make_leased

SHELL_LABEL = "smlocal.shell"
"""On the container and the image of a shell in a kept job: which shell it is."""
_DOCUMENT = "shell.json"


@dataclass(kw_only=True, slots=True)
class ShellFolder:
    """The process of the shell holds the lock on it for as long as it lives."""

    path: str
    id: str
    _lease: Lease | None

    @classmethod
    def make(cls, home: str) -> "ShellFolder":
        """Make a new one."""
        name = os.urandom(4).hex()
        path = os.path.join(_shells(home), name)
        return cls(path=path, id=name, _lease=make_leased(path))

    def record(self, document: Mapping[str, Any]) -> None:
        """Write down what is about to be made on the engine."""
        with open(os.path.join(self.path, _DOCUMENT), "w", encoding="utf-8", opener=_owner_only) as file:
            json.dump(document, file)

    def remove(self) -> None:
        """Delete it."""
        remove_tree(self.path)
        if self._lease is not None:
            self._lease.release()


def remove_dead_shells(home: str) -> None:
    """Remove what shells have left whose process was killed. What cannot be removed now is left for the next time."""
    for folder in leased_folders(_shells(home)):
        with suppress(SmlocalError, OSError, ValueError, LookupError):
            _remove_dead(folder)


def remove_marked(engine: Engine, job: str, shell: str) -> None:
    """Remove the container of a shell in a kept job, and the image that was made for it."""
    for each in (*engine.owned(job), *engine.images(job)):
        if each.labels.get(SHELL_LABEL) == shell:
            engine.remove(each)


def remove_staged(engines: Engines, plan: JobPlan, folder: str) -> list[str]:
    """Remove everything that was made for a new container; returns what could not be removed, as sentences."""
    from smlocal.job.control.found_containers import hosts_with_containers  # not before the shell of a kept job
    from smlocal.job.finish.cleanup import clear_disk, clear_engines
    from smlocal.job.finish.collect import restore_ownership
    from smlocal.job.finish.engine_leftovers import kill_containers

    for engine in engines:
        kill_containers(engine, plan.name, plan.run_id)
    failures = restore_ownership(hosts_with_containers(engines, plan))
    for each in clear_engines(engines, plan.name, plan.run_id, engine_lost=False).values():
        failures += each
    return failures + clear_disk(folder)


def _remove_dead(path: str) -> None:
    lease = Lease.take(path)
    if lease is None:
        return
    from smlocal.planning.recall import recall

    with lease:
        document = _document(path)
        if document is not None:
            if "Plan" not in document:
                remove_marked(engines_at([document["Engine"]]).first, document["Job"], os.path.basename(path))
            else:
                plan = recall(document["Plan"])
                if remove_staged(engines_at(plan.engine_addresses), plan, path):
                    return
        remove_tree(path)


def _document(path: str) -> Any:
    """None if nothing was made on the engine."""
    try:
        with open(os.path.join(path, _DOCUMENT), encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return None


def _shells(home: str) -> str:
    return os.path.join(home, "shells")


def _owner_only(path: str, flags: int) -> int:
    """The environment of a job may hold secrets."""
    return os.open(path, flags, 0o600)
