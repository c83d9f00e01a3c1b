"""How the records of a transform job are sent: by the request, else by what the container says. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform import facts

AHEAD: Final = 32 << 20
"""Bytes of payloads that are read before a request is free, and not more than are sent at once."""
_STRATEGY, _CONCURRENT, _PAYLOAD = "BatchStrategy", "MaxConcurrentTransforms", "MaxPayloadInMB"
_USED: Final = {_CONCURRENT: str(facts.CONCURRENT), _PAYLOAD: f"{facts.PAYLOAD_MB} MB"}
"""Where neither the request nor the container says it."""
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
    remarks: tuple[str, ...] = ()
    """What the container has said that is not done, in sentences for the user."""

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
    said: Mapping[str, Any] | None, *, strategy: str | None, concurrent: int | None, payload: int | None
) -> Parameters:
    """The request's parameters, else the container's, else the service's.

    Values of a wrong type are ignored. `said`: the container's answer, None unless an object. `ParametersError` above a
    limit.
    """
    remarks = [facts.NO_OBJECT] if said is None else []
    said = said or {}
    source = facts.REQUEST
    if payload is None:
        payload, source = _said(said, _PAYLOAD, least=0, most=facts.MOST_MB, remarks=remarks), facts.CONTAINER
    if payload is None:
        payload, source = facts.PAYLOAD_MB, facts.DEFAULT
    if concurrent and concurrent * payload > facts.MOST_MB:
        raise ParametersError(facts.too_many_at_once(concurrent, payload, source=source), blamed=_CLIENT)
    if not concurrent:
        concurrent = _said(said, _CONCURRENT, least=1, most=facts.MOST_SAID, remarks=remarks) or facts.CONCURRENT
    found = Parameters(
        strategy=facts.STRATEGIES[strategy] if strategy else _said_strategy(said, remarks),
        concurrent=concurrent,
        payload=payload,
    )
    if found.at_once < concurrent:
        remarks.append(facts.fewer_at_once(concurrent, payload, found.at_once, source=source))
    return replace(found, remarks=tuple(remarks))


def _said(said: Mapping[str, Any], name: str, *, least: int, most: int, remarks: list[str]) -> int | None:
    """A whole number that a container has said; None for anything else."""
    value = said.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        remarks.append(facts.ignored(name, value, f"a whole number from {least}", _USED[name]))
        return None
    if value > most:
        raise ParametersError(facts.said_too_much(name, value, most), blamed=_ALGORITHM)
    return value


def _said_strategy(said: Mapping[str, Any], remarks: list[str]) -> str:
    value = said.get(_STRATEGY)
    if isinstance(value, str) and value in {facts.MULTI, facts.SINGLE}:
        return value
    if value is not None:
        remarks.append(facts.ignored(_STRATEGY, value, f"{facts.MULTI} or {facts.SINGLE}", facts.MULTI))
    return facts.MULTI
