"""What was mirrored of which host: kept in a file, for the final save and for a supervisor who takes over."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace

from smlocal.artifacts.tree import Clash
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.quick_dataclass import dataclass

UNSURE = Stamp(size=-1, mtime_ns=0, inode=0)
"""Of a file that perhaps has arrived at the target, in whatever state: no file has it."""


@dataclass(kw_only=True, slots=True)
class Journal:
    """One line for each file that has arrived at the target or was deleted there.

    A file that is rewritten all day makes a few megabytes of it; it goes with the attempt.
    """

    path: str
    owners: dict[str, str] = field(default_factory=dict)
    """By path, the host whose file is at the target, of those that were mirrored."""
    clashes: dict[str, Clash] = field(default_factory=dict)
    """By path, the last time that a host's file took the place of another's."""
    _stamps: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    _gone: dict[str, set[str]] = field(default_factory=dict)
    _file: int = -1

    @classmethod
    def read(cls, path: str) -> "Journal":
        """What earlier supervisors and this one have written so far; nothing when there is none."""
        found = cls(path=path)
        with suppress(FileNotFoundError), open(path, encoding="ascii") as lines:
            for line in lines:
                with suppress(ValueError, TypeError):  # half a line, when its writer was killed
                    found._take(*json.loads(line))
        return found

    def up_to_date(self, host: str, restored: Restored) -> Restored:
        """What the target has of a host: what the host was given, and what has been mirrored since."""
        gone = self._gone.get(host, set())
        files = {path: stamp for path, stamp in restored.files.items() if path not in gone}
        return replace(restored, files={**files, **self._stamps.get(host, {})})

    def arriving(self, host: str, path: str) -> None:
        """A file that the target does not have of this host is about to be written there."""
        self._add(host, path, UNSURE.size, UNSURE.mtime_ns, UNSURE.inode)

    def arrived(self, host: str, path: str, stamp: Stamp) -> None:
        """The target has what had this stamp here."""
        self._add(host, path, stamp.size, stamp.mtime_ns, stamp.inode)

    def gone(self, host: str, path: str) -> None:
        """The host has it no more, and the target has nothing of it either."""
        self._add(host, path)

    def stamps(self, host: str, given: Mapping[str, Stamp]) -> dict[str, Stamp]:
        """As `up_to_date`, of the files alone."""
        return dict(self.up_to_date(host, Restored(directory="", files=given)).files)

    def close(self) -> None:
        """It can be read again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _add(self, host: str, path: str, *stamp: int) -> None:
        self._take(host, path, *stamp)
        if self._file < 0:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # A line of its own for each, also behind half a line. What does not fit is mirrored again.
        os.write(self._file, f"\n{json.dumps([host, path, *stamp])}\n".encode("ascii"))

    def _take(self, host: str, path: str, *stamp: int) -> None:
        if not stamp:
            self._stamps.setdefault(host, {}).pop(path, None)
            self._gone.setdefault(host, set()).add(path)
            if self.owners.get(path) == host:
                del self.owners[path]
            return
        size, mtime_ns, inode = stamp
        self._stamps.setdefault(host, {})[path] = Stamp(size=size, mtime_ns=mtime_ns, inode=inode)
        self._gone.setdefault(host, set()).discard(path)
        if size == UNSURE.size:
            return
        before = self.owners.get(path, host)
        if before != host:
            self.clashes[path] = Clash(path=path, loser=before, winner=host)
        self.owners[path] = host
