"""The request that an endpoint is sent, from a file."""

import sys

from smlocal.errors.of_jobs import InvocationBodyError


def read_body(path: str) -> bytes:
    """The content of a file; `-` is standard input."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InvocationBodyError(
            f"{path} cannot be read: {error.strerror}", remedy=["Check the path after --body."]
        ) from error
