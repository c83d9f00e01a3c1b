"""Models that clients of the server have made, by their names."""

import os
from collections.abc import Mapping
from typing import Any, Final

from smlocal.jobfile.document import Document
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.serving.model_registry import MODEL, add_sources, find, served, sources_of

_MODEL: Final = ("PrimaryContainer", "ExecutionRoleArn", "EnableNetworkIsolation", "VpcConfig")


def with_known_model(document: Document, name: str) -> None:
    """Write the model of this name into the document, if a client has made it here."""
    if not os.path.isdir(home := home_directory()):
        return
    with Store.open(home) as store:
        model = find(store, MODEL, name)
    if model is not None:
        add_model(document.data, served(model.body))
        overrides, document.overrides = document.overrides, f"the model {name}"
        add_sources(document, sources_of(model.body))
        document.overrides = overrides


def add_model(data: dict[str, Any], model: Mapping[str, Any]) -> None:
    """Write a model into the request of a job. One that lists its only container has it as its primary one."""
    containers = model.get("Containers") or []
    whole = {**model, "PrimaryContainer": containers[0]} if len(containers) == 1 else dict(model)
    names = (*_MODEL, "Containers") if len(containers) > 1 else _MODEL
    data.update({each: whole[each] for each in names if whole.get(each) is not None})
