"""Models that clients of the server have made, by their names."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.jobfile.document import Document

_MODEL: Final = ("PrimaryContainer", "ExecutionRoleArn", "EnableNetworkIsolation", "VpcConfig")


def recorded_model(name: str) -> Mapping[str, Any] | None:  # noqa: ARG001 - the server records none yet
    """The CreateModel request of this name; None if no client has made it here."""
    return None


def with_known_model(document: Document) -> None:
    """Write the model that ModelName names into the document, unless that has one itself."""
    data = document.data
    name = data.get("ModelName")
    if not isinstance(name, str) or "PrimaryContainer" in data or "Containers" in data:
        return
    model = recorded_model(name)
    if model is not None:
        add_model(data, model)


def add_model(data: dict[str, Any], model: Mapping[str, Any]) -> None:
    """Write a model into the request of a job. One that lists its only container has it as its primary one."""
    containers = model.get("Containers") or []
    whole = {**model, "PrimaryContainer": containers[0]} if len(containers) == 1 else dict(model)
    names = (*_MODEL, "Containers") if len(containers) > 1 else _MODEL
    data.update({each: whole[each] for each in names if whole.get(each) is not None})
