"""An artifact of a job: its path, and its content."""

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
