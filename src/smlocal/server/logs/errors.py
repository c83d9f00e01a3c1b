"""How CloudWatch Logs refuses."""

from smlocal.server.call import ServiceError


def invalid_parameter(message: str) -> ServiceError:
    """A parameter that does not fit."""
    return ServiceError("InvalidParameterException", message)


def invalid_token() -> ServiceError:
    """A nextToken that did not come from here."""
    return invalid_parameter("The specified nextToken is invalid.")


def unknown_group() -> ServiceError:
    """Any group but that of training jobs."""
    return ServiceError("ResourceNotFoundException", "The specified log group does not exist.")


def unknown_stream() -> ServiceError:
    """A host that no job has, or that has not started."""
    return ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")
