"""Errors of processing jobs."""

from smlocal.errors.base import RequestRefusedError


class IsAProcessingJobError(RequestRefusedError):
    """What is described is a processing job, and a training job is wanted."""

    id = "is-a-processing-job"
