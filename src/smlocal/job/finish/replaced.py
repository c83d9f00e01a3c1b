"""`--replace`: the artifacts of the earlier job of that name. They are deleted once the new ones are in place."""

import os
from collections.abc import Mapping
from typing import Any

from smlocal.errors import JobUnknownError
from smlocal.job.documents import LOCAL
from smlocal.removal import remove_tree
from smlocal.store.jobs import Store

REPLACED = "replaced"
"""The document with them: paths by kind, as in `Local.Artifacts`."""
_KINDS = ("Model", "Output")

Replaced = dict[str, list[str]]


def artifacts_to_replace(store: Store, name: str) -> Replaced:
    """The artifacts of the job of this name, and those that it should have replaced; empty if there is no such job."""
    try:
        artifacts = (store.document(name, LOCAL) or {}).get("Artifacts", {})
    except JobUnknownError:
        return {}
    earlier = replaced_artifacts(store, name)
    found = {kind: [artifacts.get(kind), *earlier.get(kind, ())] for kind in _KINDS}
    return {kind: paths for kind, given in found.items() if (paths := [path for path in given if path])}


def replaced_artifacts(store: Store, name: str) -> Replaced:
    """The artifacts that a job replaces; empty for most jobs."""
    return store.document(name, REPLACED) or {}


def delete_replaced(store: Store, name: str, artifacts: Mapping[str, Any], *, completed: bool) -> list[str]:
    """Delete the old artifacts for which there are new ones; returns notes on those that are kept.

    `artifacts` is the new job's `Local.Artifacts`. If the job has completed, all old ones are deleted: they must not be
    taken for its own. It may be called again.
    """
    replaced = replaced_artifacts(store, name)
    if not replaced:
        return []
    new = [artifacts[kind] for kind in _KINDS if artifacts.get(kind)]
    kept: Replaced = {}
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
            kept.setdefault(kind, []).append(path)
    if kept != replaced:
        store.put_document(name, REPLACED, kept)
    return notes
