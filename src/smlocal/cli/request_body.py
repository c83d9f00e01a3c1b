"""The request that an endpoint is sent: as it is written on the command line, or from a file."""

import os
import re
import sys
from typing import Final

from smlocal.errors.of_jobs import InvocationBodyError

STANDARD_INPUT: Final = "-"
_LONGEST_PATH: Final = 4096
_LIKE_A_FILE: Final = re.compile(
    r"[\w./~-]+\.(avro|bin|csv|gz|jpe?g|jsonl?|libsvm|np[yz]|parquet|pb|png|recordio|tsv|txt|wav|ya?ml)", re.IGNORECASE
)
"""No request looks so."""


def read_body(path: str, option: str = "--body") -> bytes:
    """The content of a file; `-` is standard input."""
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InvocationBodyError(
            f"{path} cannot be read: {error.strerror}", remedy=[f"Check the path after {option}."]
        ) from error


def names_file(body: str) -> bool:
    """True if what is given as a body is the path of a file, as `--body` took it before it took the body itself."""
    return body != STANDARD_INPUT and len(body) <= _LONGEST_PATH and "\0" not in body and os.path.isfile(body)


def written_body(text: str) -> bytes:
    """The body that is written on the command line; `-` is standard input, and the path of a file its content."""
    if text == STANDARD_INPUT or names_file(text):
        return read_body(text)
    if _LIKE_A_FILE.fullmatch(text):
        raise InvocationBodyError(
            f"{text} cannot be read: No such file or directory",
            remedy=["Check the path.", f"If it is the body itself: printf %s {text} | smlocal invoke … --body -"],
        )
    return os.fsencode(text)
