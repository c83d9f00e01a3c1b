"""The body of a request to an endpoint, from the command line or a file."""

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
"""A body never looks like this."""


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
    """True if the body is the path of a file, which older versions of `--body` expected."""
    return body != STANDARD_INPUT and len(body) <= _LONGEST_PATH and "\0" not in body and os.path.isfile(body)


def written_body(text: str) -> bytes:
    """The body from the command line. `-` means standard input, a path the content of its file."""
    if text == STANDARD_INPUT or names_file(text):
        return read_body(text)
    if _LIKE_A_FILE.fullmatch(text):
        raise InvocationBodyError(
            f"{text} cannot be read: No such file or directory",
            remedy=["Check the path.", f"If it is the body itself: printf %s {text} | smlocal invoke … --body -"],
        )
    return os.fsencode(text)
