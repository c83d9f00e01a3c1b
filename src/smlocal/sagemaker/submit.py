"""Record a job that is to be started later, in a process of its own."""

import os
import time
from collections.abc import Mapping
from typing import Any

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import JOB, REQUEST, STRICT
from smlocal.jobs.planning.aspects.output.asked import is_remote_output, model_uri
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.sagemaker.contract.identity import training_job_arn
from smlocal.sagemaker.contract.requested_hosts import hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.simulated import refuse_above_limit


def submit(
    job: JobFile,
    *,
    name: str,
    store: Store,
    limit: InstanceLimit | None = None,
    strict: bool = False,
    documents: Mapping[str, Any] | None = None,
) -> JobRecord:
    """Record a validated job as `InProgress`/`Pending`, durably; the scheduler starts it.

    Neither the engine nor S3 is asked: a wrong image or wrong data makes the job fail when it begins. `NameInUseError`
    if there is a job of this name, `InstanceLimitError` if the job is above the limit. `documents`: more to store.
    """
    refuse_above_limit(job)
    resources = job.request.ResourceConfig
    if resources is None:
        raise AssertionError(name)  # validation requires it
    hosts = hosts_of(resources)
    region, output = region_of(job), output_folder(job)

    def check(used: int) -> None:
        if limit is not None:
            limit.check(instance_type=hosts[0].instance_type, asked=len(hosts), used=used)

    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=training_job_arn(name, region_name=region, account_id=account_of(job)),
        model_uri=model_uri(job.request.OutputDataConfig, output, name),
        instances=len(hosts),
        documents={
            REQUEST: {"TrainingJobName": name, **job.raw},
            JOB: {
                **job.document.record(),
                "Data": {**job.document.data, LOCAL: _pinned(job, region=region, output=output)},
                STRICT: strict,
            },
            **(documents or {}),
        },
        check=check,
    )
    return store.get(name)


def _pinned(job: JobFile, *, region: str, output: str) -> dict[str, Any]:
    """The `Local` block with what else would depend on the process that starts the job: its environment and folder."""
    local = {**(job.document.data.get(LOCAL) or {}), "Region": region}
    if is_remote_output(job.request.OutputDataConfig):
        local["Output"] = output
    return local
