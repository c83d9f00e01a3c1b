"""Local paths of a job that do not exist, found without reading or listing anything."""

import os
from collections.abc import Iterator

from smlocal.contract.model.constraints import is_local_path
from smlocal.contract.validation.member_path import Path
from smlocal.jobfile.option import LOCAL
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.sources.local_path import local_path


def absent_paths(job: JobFile) -> list[str]:
    """A line for each path that the job reads and that is not there."""
    document = job.document
    return [
        f"{document.where(place)}   {path} does not exist here"
        for place, path in _paths(job)
        if not os.path.exists(local_path(path, document.directory, job.local.rights))
    ]


def _paths(job: JobFile) -> Iterator[tuple[Path, str]]:
    for index, channel in enumerate(job.request.InputDataConfig or ()):
        source = channel.DataSource.S3DataSource
        if source is not None and is_local_path(source.S3Uri):
            yield ("InputDataConfig", index, "DataSource", "S3DataSource", "S3Uri"), source.S3Uri
    for prefix, folder in job.local.Sources.items():
        yield (LOCAL, "Sources", prefix), folder
    if job.local.Code is not None:
        yield (LOCAL, "Code"), job.local.Code
