"""Which operations are emulated, and by which function."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from smlocal.server.call import Call, ServiceError
from smlocal.server.protocol.models import EMULATED
from smlocal.server.serving import Serving

Handler = Callable[[Serving, Call], dict[str, Any]]
"""Makes the answer. It runs in a thread, may be called several times at once, and raises `ServiceError` to refuse."""

VALIDATED_LATER = {("sagemaker", "CreateTrainingJob")}
"""By the one place that validates job files too, which knows more than the model does."""


@cache
def handlers(service: str) -> Mapping[str, Handler]:
    """The emulated operations of a service: `HANDLERS` in `smlocal.server.SERVICE.operations`."""
    if service not in EMULATED:
        return {}
    found: Mapping[str, Handler] = import_module(f"smlocal.server.{service}.operations").HANDLERS
    return found


def find(service: str, operation: str) -> Handler:
    """The function for an operation; `ServiceError` if it is not emulated."""
    handler = handlers(service).get(operation)
    if handler is None:
        raise not_emulated(service, operation)
    return handler


def not_emulated(service: str | None, operation: str) -> ServiceError:
    """As AWS answers for an operation that does not exist, and says that smlocal lacks it."""
    known = ", ".join(handlers(service)) if service in EMULATED else ""
    has = (
        f" Of {service} it emulates: {known}."
        if known
        else f" It emulates no operation of {service or 'that service'}."
    )
    return ServiceError("UnknownOperationException", f"smlocal does not emulate {operation or 'this call'}.{has}")
