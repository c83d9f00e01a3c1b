"""Where files are mirrored to: a folder here, or whatever else takes files one by one, each of them whole."""

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from smlocal.artifacts.destination import Destination
from smlocal.contract.checkpoints import UPLOADING
from smlocal.quick_dataclass import dataclass


def always() -> bool:
    """For what nobody writes any more."""
    return True


class Place(Protocol):
    """Takes files, by paths without `..`. `OSError` when it cannot; `InTheWayError` for what has another's place."""

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Show the bytes of an open file, all of them or none; `ChangedError`, and none, if it is not `unchanged`."""

    def delete(self, path: bytes) -> None:
        """Delete one file; gone already is fine."""

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Make a folder of every link that has the name of one of these."""
        ...


class Target(Protocol):
    """Opens a place as often as there is something to do there: meanwhile it is the user's."""

    def exists(self) -> bool:
        """False when there can be nothing to delete."""
        ...

    def open(self) -> AbstractContextManager[Place]:
        """Make it if need be."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderTarget:
    """A folder of this machine, which need not exist yet."""

    path: str
    run_id: str
    """Every file is written under a name made of it, and then renamed."""

    def exists(self) -> bool:
        """False when there can be nothing to delete."""
        return os.path.isdir(self.path)

    def open(self) -> Destination:
        """Make it if need be."""
        os.makedirs(self.path, exist_ok=True)
        return Destination(self.path, draft=os.fsencode(f".{self.run_id}{UPLOADING}"))
