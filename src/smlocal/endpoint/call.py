"""One call of an AWS operation, and how it may be refused."""

from typing import Any, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.store.jobs import Store


class HasStore(Protocol):
    """The endpoint, or that of debugger rules."""

    @property
    def store(self) -> "Store":
        """The jobs of a home."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsCall:
    """A client's request. The parameters have the types of the service's model."""

    service: str
    """As botocore names it: `sagemaker`, `logs`, `cloudwatch`, `sts`, `iam`."""
    operation: str
    """`DescribeTrainingJob`"""
    parameters: dict[str, Any]
    region: str
    access_key: str | None
    """The key of the caller who signed it."""


_LONGEST_MESSAGE = 32_000
"""Characters. A client's body is in many messages, and may have megabytes."""


class ServiceError(Exception):
    """The answer of the service to a call that it refuses."""

    def __init__(self, code: str, message: str, *, status: int = 400, details: dict[str, Any] | None = None) -> None:
        """`details`: members of the modelled error beside the message."""
        if len(message) > _LONGEST_MESSAGE:
            message = f"{message[:_LONGEST_MESSAGE]}…"
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.details = details or {}


def validation_error(message: str) -> ServiceError:
    """SageMaker's answer to a request that it refuses."""
    return ServiceError("ValidationException", message)
