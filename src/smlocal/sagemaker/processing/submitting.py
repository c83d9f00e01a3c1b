"""Record a processing job that is to be started in a process of its own."""

import os
import time

from smlocal.jobs.documents import JOB, REQUEST, STRICT
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.equal_training_job import equal_training_job
from smlocal.sagemaker.processing.job_file import ProcessingFile
from smlocal.sagemaker.processing.outputs import collectors_of


def submit(job: ProcessingFile, *, name: str, store: Store, limit: InstanceLimit | None = None) -> JobRecord:
    """Record it as waiting, durably; the scheduler starts it.

    `NameInUseError` if there is a job of this name, `InstanceLimitError` if the job is above the limit. Neither the
    engine nor S3 is asked: a wrong image or wrong data makes the job fail when it begins.
    """
    equal = equal_training_job(job)
    kind, count = job.instances
    collectors_of(job, directory="")  # folders that cannot be used are an error now

    def check(used: int) -> None:
        if limit is not None:
            limit.check(instance_type=kind, asked=count, used=used)

    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=facts.processing_job_arn(name, region=region_of(equal), account=account_of(equal)),
        model_uri="",
        instances=count,
        platform=facts.NAME,
        documents={
            REQUEST: {"ProcessingJobName": name, **job.raw},
            JOB: {**job.document.record(), STRICT: False},
        },
        check=check,
    )
    return store.get(name)
