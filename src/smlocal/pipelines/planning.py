"""What is recorded of an execution that another process starts."""

import os
from typing import Final

from smlocal.jobfile.option import LOCAL
from smlocal.jobs.submission.scheduler import WaitingJob
from smlocal.pipelines.job_file import PipelineFile
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.pipelines.names import execution_arn

KIND: Final = "sagemaker_pipeline"


def waiting_job(file: PipelineFile, name: str) -> WaitingJob:  # noqa: ARG001 - the same for all kinds
    """What is recorded of a valid execution. The jobs of its steps count, and it does not."""
    pipeline = file.start.get("PipelineArn")
    if pipeline is None:
        region = identity.region(stated=file.local.Region, environment=os.environ, profile=None, image=None)
        account = identity.account(role=file.definition.request.get("RoleArn"), image=None)
        pipeline = identity.sagemaker_arn("pipeline", file.pipeline, region=region, account=account)
    record = file.document.record()
    local = {**(record["Data"].get(LOCAL) or {})}
    return WaitingJob(
        platform=KIND,
        arn=execution_arn(pipeline, file.execution_id),
        request=dict(file.start),
        job={
            **record,
            "Data": {**record["Data"], LOCAL: local},
            "Start": dict(file.start),
            "Execution": file.execution_id,
        },
        leads=True,
    )
