"""Multipart uploads of a job that are not complete. After a crash, the next process aborts them."""

import json
import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from smlocal.base.files import replace_file

if TYPE_CHECKING:
    from smlocal.sources.s3.client import S3Client
    from smlocal.sources.s3.writer import Target

MIRRORS = ("checkpoints", "tensorboard", "tensors")
"""What may be mirrored to S3. Each has its own journal, because they upload at the same time."""


def journal_name(mirror: str) -> str:
    """The name of a mirror's journal."""
    return f"uploads-of-{mirror}"


class OpenUploads:
    """A journal in the job's folder. A job does not fail if it cannot be written."""

    def __init__(self, directory: str, name: str = "uploads") -> None:
        """Read the journal. No other process or thread may write to one of this name."""
        self._path = os.path.join(directory, f"{name}.json")
        self._lock = Lock()
        self._open: dict[str, list[str]] = {}
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            self._open = json.load(file)

    def begun(self, target: "Target", upload: str) -> None:
        """An upload has begun."""
        with self._lock:
            self._open[upload] = [target.bucket, target.key]
            self._write()

    def ended(self, upload: str) -> None:
        """An upload is complete or aborted."""
        with self._lock:
            if self._open.pop(upload, None) is not None:
                self._write()

    def abort_all(self, store: "S3Client") -> None:
        """Abort the uploads of a killed process; only for the one process that publishes this job."""
        if not self._open:
            return
        from smlocal.sources.s3.interface import S3Error
        from smlocal.sources.s3.writer import S3Writer, Target

        for upload, (bucket, key) in list(self._open.items()):
            try:
                S3Writer(store).abort(Target(bucket=bucket, key=key), upload)
            except S3Error:
                break  # the upload that follows will fail with the same error
            self.ended(upload)

    def _write(self) -> None:
        with suppress(OSError):
            if not self._open:
                os.unlink(self._path)
                return
            replace_file(self._path, json.dumps(self._open).encode())
