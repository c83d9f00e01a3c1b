"""What is known of a kind of job without importing it: how its documents are recognised, and where its modules are."""

from collections.abc import Callable, Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import RequestRefusedError


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One row of the table of kinds."""

    name: str
    """In plans and records."""
    spoken: str
    """`training job`, in sentences."""
    sign: str
    """The key of a document that shows best what it is."""
    describes: Callable[[Mapping[str, Any]], bool]
    """True for the keys of one of its documents."""
    reading: str
    """The module that reads its documents."""
    planning: str
    """The module that plans its jobs."""
    workload: str = ""
    """The module whose `workload_of` says what a job needs; empty for jobs that are not one set of hosts."""
    refusal: type[RequestRefusedError] | None = None
    """The error where another kind is wanted; None: it is never refused as such."""
    remedies: tuple[str, ...] = ()
    """What such an error advises."""


def keys(*signs: str, unless: frozenset[str] = frozenset()) -> Callable[[Mapping[str, Any]], bool]:
    """Recognises a document that has one of these keys, and none of the others."""

    def has(data: Mapping[str, Any]) -> bool:
        return any(sign in data for sign in signs) and unless.isdisjoint(data)

    return has
