"""Errors of tuning jobs."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError


class WarmStartError(RequestRefusedError):
    """A tuning job cannot start from the parents that it names."""

    id = "warm-start"


class TuningLibraryError(MachineNotReadyError):
    """The library that chooses points for Bayesian tuning is not installed."""

    id = "tuning-library"


class IsATuningJobError(RequestRefusedError):
    """What is described is a tuning job, and a training job is wanted."""

    id = "is-a-tuning-job"
