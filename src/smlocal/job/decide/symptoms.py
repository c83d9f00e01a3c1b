"""What a platform is shown of a host whose program failed, or left nothing."""

from collections.abc import Callable, Generator
from dataclasses import field
from enum import StrEnum

from smlocal.quick_dataclass import dataclass


class Trouble(StrEnum):
    """What went wrong."""

    NOT_STARTED = "not-started"
    """The engine or the kernel could not start the program."""
    FAILED = "failed"
    """The program exited with another code than 0."""
    NOT_STOPPED = "not-stopped"
    """The program did not end after SIGTERM, and was killed."""
    NO_MODEL = "no-model"
    """All programs exited with 0, and no model was left."""


Archive = Callable[[str], Generator[bytes, None, None]]
"""Gives a path of a container as a tar archive, with the path itself first. Raises `EngineError`."""


def _no_files(path: str) -> Generator[bytes, None, None]:
    raise FileNotFoundError(path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Symptoms:
    """Of one host."""

    trouble: Trouble
    log: str = ""
    """The end of its output; of a program that did not start, the message of the engine too."""
    failure: str = ""
    """What it wrote into the file in which a program says why it failed."""
    archive: Archive = field(default=_no_files, repr=False)
    """Of its container."""
