"""An artifact of a job: its path, and its content."""

import os
import tarfile
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """`model.tar.gz` or `output.tar.gz`; a folder where the job asked for CompressionType NONE."""

    path: str
    size: int
    """Bytes."""

    def __fspath__(self) -> str:
        return self.path

    def open(self) -> tarfile.TarFile:
        """The archive, for reading; close it, or use it in a `with` statement."""
        return tarfile.open(self.path, "r:gz")

    def names(self) -> list[str]:
        """Every file in it, in order, as a path from `/opt/ml/model` (or `/opt/ml/output/data`). No folders."""
        if not os.path.isdir(self.path):
            with self.open() as archive:
                return sorted(member.name for member in archive if not member.isdir())
        found = (os.path.join(folder, name) for folder, _, names in os.walk(self.path) for name in names)
        return sorted(os.path.relpath(each, self.path) for each in found)

    def read(self, name: str) -> bytes:
        """The content of one of these files; a `FileNotFoundError` that lists them when there is no such file."""
        if name not in (names := self.names()):
            raise FileNotFoundError(f"{self.path} has no file {name}; it has {', '.join(names) or 'none'}")
        if os.path.isdir(self.path):
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        with self.open() as archive:
            content = archive.extractfile(name)
            return b"" if content is None else content.read()  # no device or FIFO is ever packed
