"""Errors of `smlocal tensors`."""

from smlocal.errors.base import RequestRefusedError, SmlocalError


class NoDebugHookError(RequestRefusedError):
    """A job that does not ask for it saves no tensors."""

    id = "no-debug-hook"


class TensorsMissingError(RequestRefusedError):
    """There are no tensors, or none of this name."""

    id = "tensors-missing"


class TensorsInS3Error(RequestRefusedError):
    """The job has published its tensors, and none are on this machine."""

    id = "tensors-in-s3"


class TensorStepError(RequestRefusedError):
    """No tensor was saved in this step."""

    id = "tensor-step"


class TensorPatternError(RequestRefusedError):
    """The pattern for names of tensors is not a regular expression."""

    id = "tensor-pattern"


class TensorsDamagedError(SmlocalError):
    """Some files with tensors are damaged. The others have been read."""

    id = "tensors-damaged"
