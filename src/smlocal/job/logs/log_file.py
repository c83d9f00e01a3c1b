"""The log of one host as it comes in: every byte, or a word about what is missing; never an obstacle to the job."""

import os
import time
from collections.abc import Iterable

from smlocal.job.logs.log_times import TimesFile, entries_below, times_path


class LogFile:
    """Takes what a container writes. A disk that is full stops the log, not the reading of the container."""

    def __init__(self, path: str) -> None:
        """Open it for appending; a restarted job goes on in the same file."""
        self._trouble: str | None = None
        self._descriptor = -1
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._position = os.fstat(self._descriptor).st_size
            self._times = TimesFile(times_path(path))
        except OSError as error:
            self._trouble = str(error)

    def write(self, data: bytes) -> None:
        """Append all of it; after the first failure nothing more, so that there is no hole in the middle."""
        if self._trouble is not None:
            return
        # Whoever finds the bytes must find their time.
        self._times.note(self._position, time.time())
        view = memoryview(data)
        try:
            while view:
                went = os.write(self._descriptor, view)
                self._position += went
                view = view[went:]
        except OSError as error:
            self._trouble = error.strerror or str(error)

    def close(self) -> str | None:
        """Why the log is not complete, None when it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._times.close()
        return self._trouble


def rewrite_log(path: str, keep: int, pieces: Iterable[tuple[float | None, bytes]]) -> None:
    """Replace what was written of a log after its first `keep` bytes by pieces with their times; raises `OSError`."""
    draft, times = f"{path}.partial", times_path(path)
    times_draft = f"{times}.partial"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(draft, "wb") as log, open(times_draft, "wb") as earlier_times:
        earlier_times.write(entries_below(times, keep))
        if keep:
            with open(path, "rb") as earlier:
                log.write(earlier.read(keep))
        earlier_times.flush()
        taken_down = TimesFile(times_draft)
        try:
            position = log.tell()
            for at, piece in pieces:
                taken_down.note(position, at)
                log.write(piece)
                position += len(piece)
        finally:
            taken_down.close()
    # In this order: whoever finds the bytes must find their time.
    os.replace(times_draft, times)
    os.replace(draft, path)
