"""Why a job fails when no program of it did: the event, for the platform to say it in its words."""

from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass


class FailureKind(StrEnum):
    """The party at fault."""

    INTERNAL = "internal"
    """A failure of the platform itself, or of this machine."""
    INPUT = "input"
    """A failure of the user's data, image or disk: the message says which."""
    IMAGE = "image"
    """The image cannot be pulled."""
    START = "start"
    """The first process cannot be started: the message is the runtime's."""
    CAPACITY = "capacity"
    """No machines are available for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a job fails."""

    kind: FailureKind
    message: str = ""


INTERNAL_ERROR = Failure(kind=FailureKind.INTERNAL)
CANNOT_PULL = Failure(kind=FailureKind.IMAGE)
NO_CAPACITY = Failure(kind=FailureKind.CAPACITY)


def input_failure(message: str) -> Failure:
    """The user's data, image or disk cannot be used."""
    return Failure(kind=FailureKind.INPUT, message=message)


NO_DISK_SPACE = input_failure("Data download failed:Insufficient disk space")
"""Before anything runs."""
