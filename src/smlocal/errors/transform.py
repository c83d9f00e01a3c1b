"""Errors of transform jobs."""

from smlocal.errors.base import RequestRefusedError


class IsATransformJobError(RequestRefusedError):
    """What is described is a transform job, and a training job is wanted."""

    id = "is-a-transform-job"
