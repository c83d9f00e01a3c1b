"""What is recorded of a training job that is to be started later, in a process of its own."""

from typing import Any

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.output.asked import is_remote_output, model_uri
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.submission.scheduler import WaitingJob
from smlocal.sagemaker.contract.identity import sagemaker_arn
from smlocal.sagemaker.contract.requested import hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.name import NAME
from smlocal.sagemaker.prepare import account_of, region_of
from smlocal.sagemaker.simulated import refuse_above_limit


def waiting_job(job: JobFile, name: str, *, strict: bool = False) -> WaitingJob:
    """What is recorded of a validated job. Faults that refuse its creation are an error."""
    refuse_above_limit(job)
    resources = job.request.ResourceConfig
    if resources is None:
        raise AssertionError(name)  # validation requires it
    hosts = hosts_of(resources)
    region, output = region_of(job), output_folder(job)
    document = job.document
    return WaitingJob(
        platform=NAME,
        arn=sagemaker_arn("training-job", name, region=region, account=account_of(job)),
        model_uri=model_uri(job.request.OutputDataConfig, output, name),
        request={"TrainingJobName": name, **job.raw},
        job={
            **document.record(),
            "Data": {**document.data, LOCAL: _pinned(job, region=region, output=output)},
            STRICT: strict,
        },
        instances=len(hosts),
        needs=((hosts[0].instance_type, len(hosts)),),
    )


def _pinned(job: JobFile, *, region: str, output: str) -> dict[str, Any]:
    """The `Local` block with what else would depend on the process that starts the job: its environment and folder."""
    local = {**(job.document.data.get(LOCAL) or {}), "Region": region}
    if is_remote_output(job.request.OutputDataConfig):
        local["Output"] = output
    return local
