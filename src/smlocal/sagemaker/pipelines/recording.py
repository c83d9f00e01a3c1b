"""What is stored of the steps of an execution, and read again by the process that continues it."""

from collections.abc import Mapping
from typing import Any

from smlocal.sagemaker.pipelines.deciding import Iteration, Progress, State


def recorded(progress: Progress) -> dict[str, Any]:
    """How far one step has come, as a JSON document; what is usual is left out."""
    usual = Progress()
    found: dict[str, Any] = {}
    for name in Progress.__slots__:
        value = getattr(progress, name)
        if value != getattr(usual, name):
            found[name] = value
    if progress.iteration is not None:
        found["iteration"] = {
            "parent": progress.iteration.parent,
            "index": progress.iteration.index,
            "item": progress.iteration.item,
        }
    return found


def recalled(document: Mapping[str, Any]) -> Progress:
    """The same of such a document."""
    found = dict(document)
    if "state" in found:
        found["state"] = State(found["state"])
    if "iteration" in found:
        found["iteration"] = Iteration(**found["iteration"])
    return Progress(**found)
