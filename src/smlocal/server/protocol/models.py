"""The models of the emulated services, as botocore ships them."""

from functools import cache

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

EMULATED = ("sagemaker", "logs", "cloudwatch", "sts", "iam")
"""As botocore names them. S3 has a front of its own: its calls are files."""


@cache
def service_model(service: str) -> ServiceModel:
    """All operations and shapes of a service."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


@cache
def operation_model(service: str, operation: str) -> OperationModel | None:
    """One operation; None if the service has none of that name."""
    model = service_model(service)
    return model.operation_model(operation) if operation in model.operation_names else None
