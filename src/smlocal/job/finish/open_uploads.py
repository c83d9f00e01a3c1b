"""Uploads in parts that S3 keeps for a job: whoever comes after a crash takes them back."""

import json
import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smlocal.sources.s3.client import S3Client
    from smlocal.sources.s3.writer import Target

MIRRORS = ("checkpoints", "tensorboard", "tensors")
"""What may be mirrored to S3; each has a journal of its own, for they upload at the same time."""


def uploads_of(mirror: str) -> str:
    """The name of a mirror's journal."""
    return f"uploads-of-{mirror}"


class OpenUploads:
    """A journal in the job's folder; a job does not fail for want of it."""

    def __init__(self, directory: str, name: str = "uploads") -> None:
        """Read what was left; `name` is one that nobody else writes at the same time."""
        self._path = os.path.join(directory, f"{name}.json")
        self._lock = Lock()
        self._open: dict[str, list[str]] = {}
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            self._open = json.load(file)

    def begun(self, target: "Target", upload: str) -> None:
        """S3 keeps parts of this object from now on."""
        with self._lock:
            self._open[upload] = [target.bucket, target.key]
            self._write()

    def ended(self, upload: str) -> None:
        """It keeps them no longer."""
        with self._lock:
            if self._open.pop(upload, None) is not None:
                self._write()

    def take_back(self, store: "S3Client") -> None:
        """End what a process that was killed has begun; only for the one process that publishes this job."""
        if not self._open:
            return
        from smlocal.sources.s3.interface import S3Error
        from smlocal.sources.s3.writer import Target

        for upload, (bucket, key) in list(self._open.items()):
            try:
                store.writer().abort(Target(bucket=bucket, key=key), upload)
            except S3Error:
                break  # what comes next will say so
            self.ended(upload)

    def _write(self) -> None:
        draft = f"{self._path}.partial"
        with suppress(OSError):
            if not self._open:
                os.unlink(self._path)
                return
            with open(draft, "w", encoding="utf-8") as file:
                json.dump(self._open, file)
            os.replace(draft, self._path)
