"""The three standard streams: there, whatever the caller closed, and able to say whatever must be said."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def see_to_standard_streams() -> None:
    """Open what is closed on the null device, and write what an encoding lacks as an escape.

    First of all: the next file to be opened, perhaps the database, would otherwise get the number of a closed stream
    and with it everything that is printed there.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is the one that was missing.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        raw = _StandardOutput(sys.stdout)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors="backslashreplace",
            line_buffering=sys.stdout.line_buffering,
            write_through=sys.stdout.write_through,
        )


class ReaderGoneError(Exception):
    """Whoever read standard output has had enough. Not an `OSError`: click ends the process with 1 for that."""


class _StandardOutput(io.FileIO):
    """Tells trouble with standard output apart from trouble with any other file."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to the same descriptor as a stream, which would close it if nobody kept the stream."""
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream

    def write(self, data: "ReadableBuffer", /) -> int:
        with output_errors():
            return super().write(data)


@contextmanager
def output_errors() -> Iterator[None]:
    """Name standard output as what cannot be written, or say that its reader is gone."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        from smlocal.errors import StandardOutputError

        raise StandardOutputError(
            f"standard output cannot be written: {error.strerror or error}",
            remedy=["Free space there or write elsewhere; nothing else was affected."],
        ) from error


def give_up_output() -> None:
    """Throw away what is left to be written, which would be tried once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
