"""Errors of endpoints: `smlocal deploy`, `invoke` and `endpoints`."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError, SmlocalError


class ModelMissingError(RequestRefusedError):
    """The model that is to be deployed is not there."""

    id = "model-missing"


class ModelUnmappedError(RequestRefusedError):
    """The model that is to be deployed is in S3, and no folder stands for the bucket."""

    id = "model-unmapped"


class PortLabelMissingError(RequestRefusedError):
    """An image is to run beside others, and does not say that its program listens on the port that it is told."""

    id = "port-label-missing"


class DeployImageError(RequestRefusedError):
    """It is not known which image serves the model."""

    id = "deploy-image"


class EndpointUnreachableError(MachineNotReadyError):
    """The engine runs containers that this machine cannot reach."""

    id = "endpoint-unreachable"


class NotAnEndpointError(RequestRefusedError):
    """The job of that name is not an endpoint."""

    id = "not-an-endpoint"


class IsAnEndpointError(RequestRefusedError):
    """What is described is an endpoint, and a training job is wanted."""

    id = "is-an-endpoint"


class EndpointNotInServiceError(SmlocalError):
    """The endpoint does not answer: it is being created, or it has ended."""

    id = "endpoint-not-in-service"


class InvocationBodyError(RequestRefusedError):
    """What is to be sent to an endpoint cannot be read."""

    id = "invocation-body"


class InvocationFailedError(SmlocalError):
    """An endpoint has answered with an error."""

    id = "invocation-failed"
