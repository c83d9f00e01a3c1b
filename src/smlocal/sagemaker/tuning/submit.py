"""Record a tuning job that is to be started later, in a process of its own."""

import os
import time

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.planning.aspects.output.asked import is_remote_output
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.children import training_job
from smlocal.sagemaker.tuning.state import QUEUE
from smlocal.sagemaker.tuning.tuning_file import TuningFile
from smlocal.sagemaker.tuning.warm_start import earlier_of


def submit_tuning(file: TuningFile, *, name: str, store: Store, instances: int | None) -> JobRecord:
    """Record a valid tuning job as `InProgress`, durably. `instances`: how many its training jobs may use at once.

    `NameInUseError` if there is a job of this name, `WarmStartError` if its parents cannot be used.
    """
    earlier_of(file, store)
    sample = {each.name: each.at(0.0) for each in file.definitions[0].search.ranges}
    job = training_job(file, 0, sample)
    region = region_of(job)
    local = {**(file.document.data.get(LOCAL) or {}), "Region": region}
    if is_remote_output(job.request.OutputDataConfig):
        local["Output"] = output_folder(job)
    store.add_pending(
        name,
        run_id=os.urandom(4).hex(),
        created=time.time(),
        arn=facts.tuning_job_arn(name, region=region, account=account_of(job)),
        model_uri="",
        instances=0,
        platform=facts.NAME,
        documents={
            REQUEST: {"HyperParameterTuningJobName": name, **file.raw},
            JOB: {**file.document.record(), "Data": {**file.document.data, LOCAL: local}},
            QUEUE: {"Instances": instances},
        },
    )
    return store.get(name)
