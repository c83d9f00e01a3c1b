"""The log of one host as it comes in: every byte, or a word about what is missing; never an obstacle to the job."""

import os


class LogFile:
    """Takes what a container writes. A disk that is full stops the log, not the reading of the container."""

    def __init__(self, path: str) -> None:
        """Open it for appending; a restarted job goes on in the same file."""
        self._trouble: str | None = None
        self._descriptor = -1
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            self._trouble = str(error)

    def write(self, data: bytes) -> None:
        """Append all of it; after the first failure nothing more, so that there is no hole in the middle."""
        if self._trouble is not None:
            return
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self._trouble = error.strerror or str(error)

    def close(self) -> str | None:
        """Why the log is not complete, None when it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        return self._trouble
