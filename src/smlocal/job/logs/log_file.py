"""The log of one host while it is written. If it cannot be written completely, the job goes on."""

import os
import time
from collections.abc import Iterable

from smlocal.job.logs.limited_look import LookEndedError
from smlocal.job.logs.log_times import TimesFile, entries_below, times_path


class LogFile:
    """Gets what a container writes. If the disk is full, the log ends, but the container is still read."""

    def __init__(self, path: str) -> None:
        """Open it for appending: later attempts of a job use the same file."""
        self._error: str | None = None
        self._descriptor = -1
        self._position = 0
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._position = os.fstat(self._descriptor).st_size
            self._times = TimesFile(times_path(path))
        except OSError as error:
            self._error = str(error)

    @property
    def size(self) -> int:
        """Where the next byte goes."""
        return self._position

    def write(self, data: bytes, at: float | None = None) -> None:
        """Append all of it, which was written now or `at`.

        After the first error nothing more is written, so that nothing is missing in the middle.
        """
        if self._error is not None:
            return
        # A reader that finds the bytes must find their time.
        self._times.note(self._position, time.time() if at is None else at)
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._descriptor, view)
                self._position += written
                view = view[written:]
        except OSError as error:
            self._error = error.strerror or str(error)

    def close(self) -> str | None:
        """Why the log is not complete; None if it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._times.close()
        return self._error


def rewrite_log(path: str, keep: int, pieces: Iterable[tuple[float | None, bytes]]) -> None:
    """Replace everything after the first `keep` bytes of a log by pieces with their times; raises `OSError`.

    If reading the pieces ends early with a `LookEndedError`, the log is replaced only by a longer one.
    """
    draft, times = f"{path}.partial", times_path(path)
    times_draft = f"{times}.partial"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(draft, "wb") as log, open(times_draft, "wb") as earlier_times:
        earlier_times.write(entries_below(times, keep))
        if keep:
            with open(path, "rb") as earlier:
                log.write(earlier.read(keep))
        earlier_times.flush()
        new_times = TimesFile(times_draft)
        ended: LookEndedError | None = None
        try:
            position = log.tell()
            for at, piece in pieces:
                new_times.note(position, at)
                log.write(piece)
                position += len(piece)
        except LookEndedError as error:
            ended = error
        finally:
            new_times.close()
    if ended is not None and os.path.exists(path) and os.path.getsize(path) >= position:
        os.unlink(draft)
        os.unlink(times_draft)
        raise ended
    # In this order: a reader that finds the bytes must find their time.
    os.replace(times_draft, times)
    os.replace(draft, path)
    if ended is not None:
        raise ended
