"""Errors about jobs of the service."""

from collections.abc import Sequence

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError


class NotATrainingJobError(RequestRefusedError):
    """A document is not the description of one training job: another operation's answer, a list, a summary."""

    id = "not-a-training-job"


class PathInDescriptionError(RequestRefusedError):
    """The saved description of a job names a path of this machine, which the service never has."""

    id = "path-in-description"


class ServiceJobUnknownError(RequestRefusedError):
    """The service has no training job of this name, in this account and region."""

    id = "service-job-unknown"


class LogFileError(RequestRefusedError):
    """The saved log of a job cannot be read, or is not a log."""

    id = "log-file"


class ServiceJobRunningError(RequestRefusedError):
    """A job of the service has not ended, so there is no end to compare with."""

    id = "service-job-running"


class KindNotComparedError(RequestRefusedError):
    """`smlocal compare` was given an endpoint, or a job of another kind than training."""

    id = "kind-not-compared"


class KindNotReproducedError(RequestRefusedError):
    """`smlocal reproduce` was given an endpoint, or a job of another kind than training."""

    id = "kind-not-reproduced"


class ServiceRefusedError(RequestRefusedError):
    """The service refuses a request, for a reason other than missing rights."""

    id = "service-refused"

    def __init__(
        self,
        sentence: str,
        *,
        details: Sequence[str] = (),
        remedy: Sequence[str] = (),
        code: str = "",
        operation: str = "",
    ) -> None:
        """Also keep the service's code and the operation that it refused."""
        super().__init__(sentence, details=details, remedy=remedy)
        self.code = code
        self.operation = operation


class RegionMissingError(MachineNotReadyError):
    """No AWS region is configured, and the service has one endpoint for each."""

    id = "region-missing"


class ServiceForbiddenError(MachineNotReadyError):
    """The user may not do this on the service."""

    id = "service-forbidden"

    def __init__(
        self, sentence: str, *, details: Sequence[str] = (), remedy: Sequence[str] = (), action: str = ""
    ) -> None:
        """Also keep the action that is missing, such as `sagemaker:ListTags`."""
        super().__init__(sentence, details=details, remedy=remedy)
        self.action = action


class ServiceUnreachableError(MachineNotReadyError):
    """A service of AWS does not answer, or answers that it cannot now."""

    id = "service-unreachable"


class IsAProcessingJobError(RequestRefusedError):
    """What is described is a processing job, and a training job is wanted."""

    id = "is-a-processing-job"


class IsATransformJobError(RequestRefusedError):
    """What is described is a transform job, and a training job is wanted."""

    id = "is-a-transform-job"
