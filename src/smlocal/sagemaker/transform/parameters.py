"""How the records of a transform job are sent: by the request, else by what the container says. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform import facts

AHEAD: Final = 32 << 20
"""Bytes of payloads that are read before a request is free, and not more than are sent at once."""
_CLIENT, _ALGORITHM = "ClientError", "AlgorithmError"


class ParametersError(Exception):
    """They are above a limit."""

    def __init__(self, sentence: str, *, blamed: str) -> None:
        """`blamed`: the prefix of the reason."""
        super().__init__(sentence)
        self.sentence, self.blamed = sentence, blamed


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameters:
    """How the records are sent."""

    strategy: str
    """In the words of containers."""
    concurrent: int
    payload: int
    """Megabytes; 0: a whole object, in chunks."""

    @property
    def at_once(self) -> int:
        """Requests at once: fewer than `concurrent` if more megabytes than the service allows would be in memory."""
        return min(self.concurrent, max(1, facts.MOST_MB // max(1, self.payload)))

    @property
    def ahead(self) -> int:
        """Payloads that are read before a request is free."""
        return min(self.at_once, AHEAD // self.most if self.most else 1)

    @property
    def most(self) -> int | None:
        """Bytes of a payload; None: no limit."""
        return self.payload * facts.MEGABYTE or None


def parameters_of(
    said: Mapping[str, Any], *, strategy: str | None, concurrent: int | None, payload: int | None
) -> Parameters:
    """Those of the request, else those that the container has said, else the service's.

    What a container says in another type does not count. `ParametersError` if they are above a limit.
    """
    own = said.get("BatchStrategy")
    if strategy:
        strategy = facts.STRATEGIES[strategy]
    elif isinstance(own, str) and own in {facts.MULTI, facts.SINGLE}:
        strategy = own
    if payload is None:
        payload = _said(said, "MaxPayloadInMB", least=0, most=facts.MOST_MB)
    if payload is None:
        payload = facts.PAYLOAD_MB
    if concurrent and concurrent * payload > facts.MOST_MB:
        raise ParametersError(facts.too_many_at_once(concurrent, payload), blamed=_CLIENT)
    concurrent = concurrent or _said(said, "MaxConcurrentTransforms", least=1, most=facts.MOST_SAID)
    return Parameters(strategy=strategy or facts.MULTI, concurrent=concurrent or facts.CONCURRENT, payload=payload)


def _said(said: Mapping[str, Any], name: str, *, least: int, most: int) -> int | None:
    """A whole number that a container has said; None for anything else."""
    value = said.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        return None
    if value > most:
        raise ParametersError(facts.said_too_much(name, value, most), blamed=_ALGORITHM)
    return value
