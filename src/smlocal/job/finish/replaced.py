"""`--replace`: the artifacts of the job that had the name before, which go once those of the new one are in place."""

import os
from collections.abc import Mapping
from typing import Any

from smlocal.errors import JobUnknownError
from smlocal.job.finish.describe import LOCAL
from smlocal.removal import remove_tree
from smlocal.store.jobs import Store

REPLACED = "replaced"
"""The document of the new job: paths by kind, as in `Local.Artifacts`."""
_KINDS = ("Model", "Output")

Replaced = dict[str, list[str]]


def old_artifacts(store: Store, name: str) -> Replaced:
    """What the job of this name has left, and the jobs that it replaced in vain; empty when there is no such job."""
    try:
        artifacts = (store.document(name, LOCAL) or {}).get("Artifacts", {})
    except JobUnknownError:
        return {}
    earlier = replaced_artifacts(store, name)
    found = {kind: [artifacts.get(kind), *earlier.get(kind, ())] for kind in _KINDS}
    return {kind: paths for kind, given in found.items() if (paths := [path for path in given if path])}


def replaced_artifacts(store: Store, name: str) -> Replaced:
    """The old artifacts that a job is to replace; empty for most jobs."""
    return store.document(name, REPLACED) or {}


def drop_replaced(store: Store, name: str, artifacts: Mapping[str, Any], *, completed: bool) -> list[str]:
    """Delete the old artifacts that new ones stand for now; of what stays, a note each. Harmless when done twice.

    `artifacts` is the new job's `Local.Artifacts`. Once it has completed, all old ones go: they must not pass for its
    own.
    """
    replaced = replaced_artifacts(store, name)
    if not replaced:
        return []
    new = [artifacts[kind] for kind in _KINDS if artifacts.get(kind)]
    left: Replaced = {}
    notes = []
    for kind, paths in replaced.items():
        for path in dict.fromkeys(paths):
            if any(each == path or each.startswith(f"{path}/") for each in new) or not os.path.lexists(path):
                continue
            try:
                if completed or artifacts.get(kind):
                    remove_tree(path)
                    continue
                notes.append(f"{path} is from the job that this one replaced")
            except OSError as error:
                notes.append(f"{path} of the job that this one replaced could not be deleted: {error.strerror}")
            left.setdefault(kind, []).append(path)
    if left != replaced:
        store.put_document(name, REPLACED, left)
    return notes
