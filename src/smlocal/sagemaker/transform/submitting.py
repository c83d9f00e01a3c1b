"""Record a transform job that is to be started in a process of its own."""

import os
import time

from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.hosting.planning import region_of
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.transform_file import TransformFile


def submit(asked: TransformFile, *, name: str, store: Store) -> JobRecord:
    """Record it as waiting, durably; the scheduler starts it. `NameInUseError` if there is a job of this name.

    Neither the engine nor S3 is asked: a wrong image or model makes the job fail when it begins.
    """
    container = asked.raw.get("PrimaryContainer") or {}
    account = identity.account(role=asked.model.role, image=container.get("Image"))
    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=facts.transform_job_arn(name, region=region_of(asked.model), account=account),
        model_uri="",
        instances=1,
        platform=facts.NAME,
        documents={REQUEST: {**asked.raw, "TransformJobName": name}, JOB: asked.document.record()},
    )
    return store.get(name)
