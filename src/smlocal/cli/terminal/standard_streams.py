"""The three standard streams: there, whatever the caller closed, and able to say whatever must be said."""

import io
import os
import sys


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
