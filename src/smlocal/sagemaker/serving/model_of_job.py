"""The model of a job of this machine, by the job's name."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.errors.of_jobs import ModelMissingError, NotAnEndpointError
from smlocal.jobfile.document import Document
from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.documents import LOCAL as RESULTS
from smlocal.jobs.kinds import not_finished, showing
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.variants import URL, container_of, models_named, part_at
from smlocal.terms.statuses import JobStatus
from smlocal.terms.validation.violation import Path, closest_words

_MOST_LOOKED_AT: Final = 50
_MOST_COMPARED: Final = 1000
_MOST_SUGGESTED: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class JobModel:
    """The model of a job."""

    job: str
    """The job that made the model; for a search, its best training job."""
    path: str
    """The archive, or the folder."""
    request: Mapping[str, Any] = field(repr=False)
    """The request of that job."""
    recorded: Mapping[str, Any] = field(repr=False)
    """Its job file."""

    @property
    def container(self) -> dict[str, Any]:
        """The members of a container with this model and, if known, the image that made it."""
        image = (self.request.get("AlgorithmSpecification") or {}).get("TrainingImage")
        return {**({"Image": image} if image else {}), **container_of(self.path)}


def model_of_job(store: Store, name: str) -> JobModel:
    """The model of a recorded job; for a tuning job, of its best training job."""
    name = showing(store.get(name).platform).with_model(store, name)
    record = store.get(name)
    if record.platform == facts.NAME:
        raise NotAnEndpointError(f"{name} is an endpoint already", remedy=["Deploy the job or the file of its model."])
    model = ((store.document(name, RESULTS) or {}).get("Artifacts") or {}).get("Model")
    if not model and not record.status.terminal:
        raise not_finished(record, f"Wait for its model: smlocal wait {name}")
    if not model or not os.path.exists(model):
        raise ModelMissingError(
            f"the job {name} has no model on this machine",
            details=[str(model)] if model else [],
            remedy=[f"smlocal describe {name} shows what happened to it."],
        )
    recorded = (store.document(name, JOB) or {}).get("Data", {})
    return JobModel(job=name, path=model, request=store.document(name, REQUEST), recorded=recorded)


def newest_model(image: str) -> str:
    """The newest job with a model made by this image; empty if there is none."""
    if not os.path.isdir(home := home_directory()):
        return ""
    with Store.open(home) as store:
        for record in store.list(limit=_MOST_LOOKED_AT):
            if record.status is JobStatus.COMPLETED:
                with suppress(SmlocalError):
                    if model_of_job(store, record.name).container.get("Image") == image:
                        return record.name
    return ""


def with_models_of_jobs(document: Document) -> None:
    """Replace names of jobs in the document by their models. A file with that name wins."""
    named = [
        (at, name) for at, name in models_named(document) if not os.path.isfile(os.path.join(document.directory, name))
    ]
    if not named or document.elsewhere is not None or not os.path.isdir(home := home_directory()):
        return
    with Store.open(home) as store:
        for at, name in named:
            try:
                found = model_of_job(store, name)
            except JobUnknownError:
                if not document.has((*at, "Image")) and not document.has((*at, "ModelPackageName")):
                    raise no_model_named(document, (*at, URL), name) from None
                continue  # reported when the model is needed: a file is valid without its data
            overrides, document.overrides = document.overrides, f"the job {found.job}"
            del part_at(document, at)[URL]
            for member, value in found.container.items():
                if member != "Image" or not document.has((*at, member)):
                    document.set((*at, member), value)
            document.overrides = overrides


def no_model_named(document: Document, at: Path, text: str) -> ModelMissingError:
    """The error if no job and no file has this name."""
    near: list[str] = []
    if os.path.isdir(home := home_directory()):
        with Store.open(home) as store:
            names = [each.name for each in store.list(limit=_MOST_COMPARED)]
            near = closest_words(text, names, most=_MOST_SUGGESTED)
    return ModelMissingError(
        f"there is no model named {text}: no job has this name, and no file in {document.directory}",
        details=[f"{document.where(at)}   {'.'.join(map(str, at))}"],
        remedy=[*([f"Did you mean {' or '.join(near)}?"] if near else []), "smlocal jobs lists all jobs."],
    )
