"""Make the three standard streams usable: open, and able to print any text."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
        raw = _StandardOutput(sys.stdout)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors="backslashreplace",
            line_buffering=sys.stdout.line_buffering,
            write_through=sys.stdout.write_through,
        )


class ReaderGoneError(Exception):
    """The reader of standard output is gone. Not an `OSError`, because click would exit with 1."""


class _StandardOutput(io.FileIO):
    """Tells errors of standard output from errors of other files."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to the descriptor of a stream. The stream is kept, because it would close the descriptor."""
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream

    def write(self, data: "ReadableBuffer", /) -> int:
        with output_errors():
            return super().write(data)


@contextmanager
def output_errors() -> Iterator[None]:
    """Raise an error that names standard output, or `ReaderGoneError`."""
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


def discard_output() -> None:
    """Discard the rest of the output, which the interpreter would otherwise try to write when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
