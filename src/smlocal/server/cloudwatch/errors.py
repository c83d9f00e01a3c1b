"""How CloudWatch refuses."""

from smlocal.server.call import ServiceError


def invalid_value(message: str) -> ServiceError:
    """A parameter that is wrong by itself."""
    return ServiceError("InvalidParameterValue", message)


def invalid_combination(message: str) -> ServiceError:
    """Parameters that do not fit together."""
    return ServiceError("InvalidParameterCombination", message)


def invalid_query(message: str) -> ServiceError:
    """What GetMetricData answers to wrong queries."""
    return ServiceError("ValidationError", message)


def invalid_token() -> ServiceError:
    """A NextToken that did not come from here."""
    return ServiceError("InvalidNextToken", "The next token specified is invalid.")
