"""Models that clients of the server have made, by their names."""

import os
from collections.abc import Mapping
from typing import Any, Final

from smlocal.jobfile.document import Document
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.serving.model_registry import HERE, MODEL, SOURCES, add_sources, find, served

_MODEL: Final = ("PrimaryContainer", "ExecutionRoleArn", "EnableNetworkIsolation", "VpcConfig")


def recorded_model(name: str) -> StoredResource | None:
    """The model of this name; None if no client has made it here."""
    if not os.path.isdir(home := home_directory()):
        return None
    with Store.open(home) as store:
        return find(store, MODEL, name)


def with_known_model(document: Document) -> None:
    """Write the model that ModelName names into the document, unless that has one itself."""
    data = document.data
    name = data.get("ModelName")
    if not isinstance(name, str) or "PrimaryContainer" in data or "Containers" in data:
        return
    model = recorded_model(name)
    if model is not None:
        add_model(data, served(model.body))
        overrides, document.overrides = document.overrides, f"the model {name}"
        add_sources(document, (model.body.get(HERE) or {}).get(SOURCES) or {})
        document.overrides = overrides


def add_model(data: dict[str, Any], model: Mapping[str, Any]) -> None:
    """Write a model into the request of a job. One that lists its only container has it as its primary one."""
    containers = model.get("Containers") or []
    whole = {**model, "PrimaryContainer": containers[0]} if len(containers) == 1 else dict(model)
    names = (*_MODEL, "Containers") if len(containers) > 1 else _MODEL
    data.update({each: whole[each] for each in names if whole.get(each) is not None})
