"""Record an endpoint that is to be started in a process of its own."""

import os
import time

from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.hosts import image_name
from smlocal.sagemaker.hosting.model_file import ModelFile
from smlocal.sagemaker.hosting.planning import region_of


def submit(model: ModelFile, *, name: str, store: Store) -> JobRecord:
    """Record it as waiting, durably; the scheduler starts it. `NameInUseError` if there is a job of this name.

    Neither the engine nor S3 is asked: a wrong image or model makes the endpoint fail when it begins. It counts as no
    instance, because it has no end: others would wait for it.
    """
    called = model.raw.get("EndpointName", name)
    account = identity.account(role=model.role, image=image_name(model.containers[0]))
    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=facts.endpoint_arn(called, region=region_of(model), account=account),
        model_uri="",
        instances=0,
        platform=facts.NAME,
        documents={REQUEST: {**model.raw, "EndpointName": called}, JOB: model.document.record()},
    )
    return store.get(name)
