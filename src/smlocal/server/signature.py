"""Verifies signatures of version 4, where a server is reached by more than this machine."""

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Signatures:
    """The one key that is accepted."""

    access_key: str
    secret_key: str
