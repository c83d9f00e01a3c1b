"""What a check deploys: the image with the model that was named, or that it has trained."""

import copy
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL

_CARRIED: Final = ("Engines", "Gpus", "AllowCpu", "Region", "Sources")
"""The settings of a job that its endpoint takes over, as `smlocal deploy` does."""
_MOST_PROCESSES: Final = 4096
_MOST_OF_MEMORY: Final = 3 / 4
_GRACE: Final = 30
_INVOCATION: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingSubject:
    """What is to be served, and what it is asked."""

    image: str
    document: Document | None = None
    """The model file that was named in place of an image."""
    model: str = ""
    """An archive or a folder."""
    local: Mapping[str, Any] = field(default_factory=dict)
    """The `Local` block of the job file."""
    after_training: bool = False
    """True to serve what the plain job has left."""
    body: bytes | None = None
    content_type: str = ""


def model_image(document: Document) -> str:
    """The image that a model file names."""
    return str(_first_container(document.data).get("Image") or "")


def _first_model(data: dict[str, Any]) -> dict[str, Any]:
    """The models of a valid model file."""
    models: list[dict[str, Any]] = data.get("Models") or [data]
    return models[0]


def _first_container(data: dict[str, Any]) -> dict[str, Any]:
    model = _first_model(data)
    containers: list[dict[str, Any]] = model.get("Containers") or [model.get("PrimaryContainer") or {}]
    return containers[0]


_MISSING: Final = re.compile(
    r"(?i)no such file|filenotfound|not found|not exist|doesn't exist|missing|cannot find|can't find|is empty|no model"
)
_MODEL_WORD: Final = re.compile(r"(?i)/opt/ml/model\b|\bmodels?\b")
_LINES_LOOKED_AT: Final = 500


def says_model_missing(lines: Sequence[str]) -> bool:
    """Whether one line of the end of a log says that a model is missing."""
    return any(_MISSING.search(line) and _MODEL_WORD.search(line) for line in lines[-_LINES_LOOKED_AT:])


def has_model(document: Document) -> bool:
    """Whether the container of a model file is given a model."""
    container = _first_container(document.data)
    return bool(container.get("ModelDataUrl") or container.get("ModelDataSource"))


def model_document(serving: ServingSubject, *, trained: str, timeout: int) -> Document:
    """The model file that is deployed. Nothing of the user's is written to, and no container gets AWS credentials."""
    data: dict[str, Any] = copy.deepcopy(serving.document.data) if serving.document is not None else {}
    model_data = _first_model(data)
    container = (model_data.get("Containers") or [model_data.setdefault("PrimaryContainer", {})])[0]
    container.setdefault("Image", serving.image)
    model = trained or serving.model
    if model:
        container.pop("ModelDataUrl", None)
        container.pop("ModelDataSource", None)
        if os.path.isdir(model):
            source = {"S3Uri": os.path.abspath(model), "S3DataType": "S3Prefix", "CompressionType": "None"}
            container["ModelDataSource"] = {"S3DataSource": source}
        else:
            container["ModelDataUrl"] = os.path.abspath(model)
    local = {**{key: serving.local[key] for key in _CARRIED if key in serving.local}, **(data.get(LOCAL) or {})}
    local.pop("Credentials", None)
    local["Pull"] = "never"
    local["StopGraceSeconds"] = _at_most(min(_GRACE, timeout), local, "StopGraceSeconds")
    local.setdefault("Processes", _MOST_PROCESSES)
    local.setdefault("Memory", int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * _MOST_OF_MEMORY))
    limits = dict(local.get("Serving") or {})
    if limits.get("StartupSeconds") is None:  # null is its default
        limits["StartupSeconds"] = timeout
    for name, seconds in (("StartupSeconds", timeout), ("InvocationSeconds", min(timeout, _INVOCATION))):
        limits[name] = _at_most(seconds, limits, name)
    local["Serving"] = limits
    data[LOCAL] = local
    data.pop("EndpointName", None)
    directory = serving.document.directory if serving.document is not None else os.getcwd()
    return Document(data, name=serving.document.name if serving.document is not None else "check", directory=directory)


def _at_most(most: int, stated: Mapping[str, Any], name: str) -> Any:
    """The stated value, at most the limit. The reading of the model refuses other types."""
    found = stated.get(name, most)
    return min(most, found) if isinstance(found, int) else found
