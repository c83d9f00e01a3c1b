"""Whether the description of a job may name paths of this machine: only if it is that of a job here, and if asked."""

import os

from smlocal.jobfile.document import Document, Elsewhere
from smlocal.platforms.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.remote.described_job import DescribedJob


def elsewhere(job: DescribedJob, *, allow_local_paths: bool) -> Elsewhere | None:
    """What to know when the local paths of its request are checked; None for a request, which is the user's own.

    A description is that of a job of this machine if the home has a job of its name and ARN. The ARN alone proves
    nothing, because anybody can write it: so only those paths are allowed that the recorded request has, too.
    """
    if not job.from_elsewhere:
        return None
    if not local_locations(job.request):
        return Elsewhere()
    from smlocal.api.recorded_job import recorded_request

    recorded = recorded_request(job.name, arn=job.arn)
    if recorded is None:
        return Elsewhere()
    return Elsewhere(own_job=job.name, allowed=frozenset(local_locations(recorded) if allow_local_paths else ()))


def check_local_paths(job: DescribedJob, *, name: str, allow_local_paths: bool = False) -> None:
    """`PathInDescriptionError` for the description of a job with paths that it may not name. `name`: of the file."""
    document = Document(job.request, name=name, directory=os.getcwd())
    document.elsewhere = elsewhere(job, allow_local_paths=allow_local_paths)
    refuse_local_paths(document)
