"""Makes a job file of a described job's document, so that it can be run as it is."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from smlocal.platforms.sagemaker.contract.identity import default_name
from smlocal.remote.described_job import DescribedJob, described_job
from smlocal.remote.elsewhere import elsewhere

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document


def make_job(document: "Document", *, local: bool = True, allow_local_paths: bool = False) -> DescribedJob:
    """Replace the description in a document by its request. `local`: with a `Local` block, if it needs one.

    `allow_local_paths`: accept paths of this machine, for the description of a job that ran here.
    """
    job = described_job(document.data, name=document.name)
    document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    settings = {**({"Region": job.region} if job.region else {}), **job.local} if local else {}
    name = default_name(job.name, datetime.now().astimezone()) if job.answer is not None else job.name
    document.data = {
        **job.request,
        **({"TrainingJobName": name} if name else {}),
        **({"Local": settings} if settings else {}),
    }
    return job


def sentences(job: DescribedJob, file: str) -> Iterator[str]:
    """What to say about it."""
    if job.answer is None:
        code = f", and its code is taken from {job.local['Code']}" if job.local.get("Code") else ""
        yield f"{file} is a request for Airflow: its uploads are not made{code}"
    else:
        state = ", ".join(filter(None, (job.status, job.region)))
        yield f"{file} describes the training job {job.name} ({state}): its request is used"
    if job.is_running:
        yield f"{job.name} had not ended when it was described"
    if job.newer:
        yield f"left out, because this version of smlocal does not know it: {', '.join(job.newer)}"
