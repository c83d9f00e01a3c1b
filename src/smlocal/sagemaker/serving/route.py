"""Where an invocation goes: the one thing that the front asks about the containers of an endpoint."""

from collections.abc import Mapping
from typing import Any, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.serving.facts import PRIMARY

Address = tuple[str, int]


class AnswerError(Exception):
    """The answer to a request is an error of the service."""

    def __init__(self, status: int, kind: str, document: dict[str, Any]) -> None:
        super().__init__(kind)
        self.status, self.kind, self.document = status, kind, document


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One container that a request passes through."""

    address: Address
    container: str = PRIMARY
    """Its name in messages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The containers of one invocation, in their order: the answer of each is the request to the next."""

    variant: str
    """What the answer names as invoked."""
    steps: tuple[Step, ...]


class Routes(Protocol):
    """Chooses the containers of each invocation. Asked in the thread of the front, and must not wait."""

    def route(self, headers: Mapping[str, str]) -> Route:
        """By the headers of the request, whose names are in small letters; `AnswerError` if it goes nowhere."""


class OneContainer:
    """All invocations go to one container."""

    def __init__(self, variant: str, address: Address | None) -> None:
        """`address` None: there is none now."""
        self._route = None if address is None else Route(variant=variant, steps=(Step(address=address),))

    def route(self, headers: Mapping[str, str]) -> Route:  # noqa: ARG002 - they choose nothing here
        """To the container, whatever they are."""
        if self._route is None:
            raise AnswerError(503, "ServiceUnavailable", {"Message": "the container is being started again"})
        return self._route
