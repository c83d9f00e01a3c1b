"""Record a tuning job that is to be started later, in a process of its own."""

import os
import time

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.planning.aspects.output.asked import is_remote_output
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.sagemaker.contract.requested_hosts import hosts_of
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.children import training_job
from smlocal.sagemaker.tuning.state import QUEUE
from smlocal.sagemaker.tuning.tuning_file import TuningFile
from smlocal.sagemaker.tuning.warm_start import earlier_of


def submit_tuning(file: TuningFile, *, name: str, store: Store, limit: InstanceLimit | None) -> JobRecord:
    """Record a valid tuning job as `InProgress`, durably. `limit`: its training jobs wait until they fit.

    `NameInUseError` if there is a job of this name, `WarmStartError` if its parents cannot be used,
    `InstanceLimitError` if a training job can never fit.
    """
    earlier_of(file, store)
    jobs = [
        training_job(file, index, {each.name: each.at(0.0) for each in definition.search.ranges})
        for index, definition in enumerate(file.definitions)
    ]
    for each in jobs:
        if limit is not None and each.request.ResourceConfig is not None:
            hosts = hosts_of(each.request.ResourceConfig)
            limit.check(instance_type=hosts[0].instance_type, asked=len(hosts), used=0)
    job = jobs[0]
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
            QUEUE: {"Instances": None if limit is None else limit.instances},
        },
    )
    return store.get(name)
