"""Make the three standard streams usable: open, and able to print any text."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from smlocal.errors import StandardOutputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def repair_standard_streams() -> None:
    """Open closed streams on the null device, and print characters that an encoding lacks as escapes.

    This comes before everything else. Otherwise the next file to be opened, such as the database, would get the number
    of a closed stream, and everything that is printed would be written into it.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is that of the closed stream.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _with_raw(sys.stdout, _StandardOutput(sys.stdout))
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _with_raw(sys.stderr, _StandardError(sys.stderr))


def _with_raw(stream: io.TextIOWrapper, raw: io.RawIOBase) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class ReaderGoneError(Exception):
    """The reader of standard output is gone, and a command that only prints may end.

    Not an `OSError`, because click would exit with 1.
    """


class _StandardOutput(io.FileIO):
    """Discards everything after the first error, so that a command still comes to its answer and its exit code."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to the descriptor of a stream. The stream is kept, because it would close the descriptor."""
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream
        self.error: StandardOutputError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            with output_errors():
                return super().write(data)
        except ReaderGoneError:
            _discard(self.fileno())
        except StandardOutputError as error:
            _discard(self.fileno())
            self.error = error
        return memoryview(data).nbytes


class _StandardError(io.FileIO):
    """Discards everything after the first error: there is no place for a message about it."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to the descriptor of a stream. The stream is kept, because it would close the descriptor."""
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError:
            _discard(self.fileno())
            return memoryview(data).nbytes


@contextmanager
def output_errors() -> Iterator[None]:
    """Raise an error that names standard output, or `ReaderGoneError`."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        raise StandardOutputError(
            f"standard output cannot be written: {error.strerror or error}",
            remedy=["Free space there or write elsewhere; nothing else was affected."],
        ) from error


def output_error() -> "StandardOutputError | None":
    """Why standard output could not be written, if it could not, for another reason than that its reader is gone."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, _StandardOutput) else None


def discard_output() -> None:
    """Discard the rest of the output, which the interpreter would otherwise try to write when it ends."""
    _discard(sys.stdout.fileno())


def _discard(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
