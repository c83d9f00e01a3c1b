"""What is recorded of a training job that is to be started later, in a process of its own."""

from typing import Any

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.output.asked import is_remote_output, model_uri
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.planning.workload import Workload
from smlocal.jobs.submission.recording import WaitingJob
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.name import NAME
from smlocal.sagemaker.place import arn_of, region_of
from smlocal.sagemaker.simulated import refuse_above_limit
from smlocal.sagemaker.workload import workload_of


def waiting_job(job: JobFile, name: str, *, strict: bool = False) -> WaitingJob:
    """What is recorded of a validated job. Faults that refuse its creation are an error."""
    work = workload_of(job)
    refuse_above_limit(work)
    document, output = job.document, output_folder(work)
    local = {**(document.data.get(LOCAL) or {}), **pinned(work, output)}
    return WaitingJob(
        platform=NAME,
        arn=arn_of(work, "training-job", name),
        model_uri=model_uri(work.output, output, name),
        request={"TrainingJobName": name, **job.raw},
        job={**document.record(), "Data": {**document.data, LOCAL: local}, STRICT: strict},
        instances=len(work.hosts),
        needs=((work.hosts[0].instance_type, len(work.hosts)),),
    )


def pinned(work: Workload, output: str) -> dict[str, Any]:
    """Settings that would depend on the process that starts the job: on its environment and its folder."""
    remote = {"Output": output} if is_remote_output(work.output.uri) else {}
    return {"Region": region_of(work.local, work.image), **remote}
