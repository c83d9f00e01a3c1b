"""The file with the certificates that the program of one run of `smlocal exec` trusts."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape, glob

_NAME = "certificates-{}.pem"
_FORMER = "certificate-authority.pem"
"""Of earlier versions: an authority for all names, with its key, that was valid for ever."""


@contextmanager
def bundle(home: str, authority: bytes, others: str) -> Iterator[str]:
    """The path of a file with this authority and the certificates in `others`, there until the end of the block."""
    _remove_abandoned(home)
    with open(others, "rb") as file:
        content = file.read() + b"\n" + authority
    descriptor, path = _locked_file(home)
    try:
        with open(descriptor, "wb", closefd=False) as out:
            out.write(content)
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.close(descriptor)


def _locked_file(home: str) -> tuple[int, str]:
    """A new file. Its lock is a mark that its run is alive."""
    while True:
        path = os.path.join(home, _NAME.format(f"{os.getpid()}-{os.urandom(4).hex()}"))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # another run has taken it for abandoned before it was locked


def _remove_abandoned(home: str) -> None:
    """Remove the files of runs that were killed."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(home, _FORMER))
    for path in glob(os.path.join(escape(home), _NAME.format("*"))):
        with suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
