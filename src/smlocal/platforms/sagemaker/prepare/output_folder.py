"""The local folder for the artifacts of a job."""

import os

from smlocal.job.prepare.output_folders import DEFAULT_OUTPUT, folder_at
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile


def output_folder(job: JobFile) -> str:
    """The path in the request if it is local, else Local.Output, else a folder in the current one."""
    uri = job.request.OutputDataConfig.S3OutputPath
    if uri.startswith(("s3://", "https://")):
        uri = job.local.Output or os.path.abspath(DEFAULT_OUTPUT)
    return folder_at(uri, job.document.directory, job.local.rights)
