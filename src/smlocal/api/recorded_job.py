"""Reads the recorded request of a job: with changes for another run, or as it was given."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from smlocal.api.job_files import (
    REPLICAS,
    kind_of,
    refuse_to_run,
)
from smlocal.api.job_source import read_any, read_document
from smlocal.api.overrides import Overrides, apply_defaults, apply_overrides
from smlocal.errors import JobUnknownError
from smlocal.jobfile.document import Document, RanBefore, recorded_document
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.documents import JOB, LOCAL, RECALL
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.kinds import ENDPOINT, PIPELINE, PROCESSING, TRANSFORM, TUNING
from smlocal.terms.made_names import without_time

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob


def read_recorded(
    recorded: str,
    given: Overrides,
    *,
    strict: bool,
    defaults: Overrides | None = None,
    changed_by: str = "command line",
    to_run: bool = True,
    on_message: Callable[[str], None] = lambda _: None,
) -> tuple["AskedJob", str]:
    """The validated job of another run, and its name. Paths in the record start where they started the first time.

    `to_run`: refuse kinds that `run` does not start.
    """
    with Store.open(home_directory()) as store:
        job, plan = store.document(recorded, JOB), store.document(recorded, RECALL)
        image_id = (store.document(recorded, LOCAL) or {}).get("Image")
    document = recorded_document(job, name=f"the request of {recorded}")
    document.overrides = changed_by
    kind = kind_of(document.data)
    if to_run:
        refuse_to_run(document)
    if kind in {TRANSFORM, TUNING, REPLICAS, ENDPOINT, PIPELINE}:
        reading = kind.reads
        stem = reading.begin_again(document, job, recorded)
        apply_overrides(document, given)
        return reading.read_named(document, name=given.get("name"), stem=stem, strict=strict)
    if kind is PROCESSING:
        return _of_processing(document, recorded, plan, given, defaults, strict=strict)
    if image_id:
        image = ((job["Data"].get("AlgorithmSpecification") or {}).get("TrainingImage")) or ""
        document.ran_before = RanBefore(job=recorded, image=image, image_id=image_id)
    document.set(("TrainingJobName",), _new_name(recorded))
    if plan is not None:  # else it was submitted, and the record names the folder
        _keep_output(document, os.path.dirname(plan["output"]["directory"]))
    if defaults is not None:
        apply_defaults(document, defaults, origin="configuration file")
    return read_document(document, given, path=None, fill_in=False, strict=strict, on_message=on_message)


def _of_processing(
    document: Document,
    recorded: str,
    plan: Mapping[str, Any] | None,
    given: Overrides,
    defaults: Overrides | None,
    *,
    strict: bool,
) -> tuple["AskedJob", str]:
    document.set(("ProcessingJobName",), _new_name(recorded))
    if plan is not None and not (document.data.get("Local") or {}).get("Output"):
        document.set(("Local", "Output"), os.path.dirname(plan["output"]["directory"]))
    if defaults is not None:
        apply_defaults(document, defaults, origin="configuration file")
    return read_any(document, given, path=None, fill_in=False, strict=strict)


def _new_name(recorded: str) -> str:
    return default_name(without_time(recorded), datetime.now().astimezone())


def _keep_output(document: Document, folder: str) -> None:
    """Without an output folder in the request, the job wrote to one in the folder where it was started."""
    local = document.data.get("Local") or {}
    remote = document.data["OutputDataConfig"]["S3OutputPath"].startswith(("s3://", "https://"))
    if remote and not local.get("Output"):
        document.set(("Local", "Output"), folder)


def recorded_request(name: str, *, arn: str) -> Mapping[str, Any] | None:
    """The request, as it was given, of the job here with this name and ARN; None if there is none."""
    if not name or not arn or not os.path.isdir(home := home_directory()):
        return None
    with Store.open(home) as store:
        try:
            record = store.get(name)
        except JobUnknownError:
            return None
        if record.arn != arn:
            return None
        data: Mapping[str, Any] = store.document(name, JOB)["Data"]
    return data


def own_answer(name: str, *, arn: str) -> Mapping[str, Any] | None:
    """The describe answer of the job here with this name and ARN; None if there is none."""
    if recorded_request(name, arn=arn) is None:
        return None

    with Store.open(home_directory()) as store:
        ensure_supervised(store, name)
        return describe_job(store, name)
