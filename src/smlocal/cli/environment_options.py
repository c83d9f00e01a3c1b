"""`-e` and `--env-file`: entries of Environment, whose values need not be on the command line."""

import os
from collections.abc import Iterator, Sequence

import click

from smlocal.errors import EnvFileError, VariableUnsetError

_LARGEST = 1 << 20
"""Maximum bytes of a file: ten times the size of 100 entries with the longest names and values."""


def variables(files: Sequence[str], given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and values, first those of files: `-e` overrides them."""
    for path in files:
        yield from _of_file(path)
    for text in given:
        name, separator, value = text.partition("=")
        if not name:
            raise click.UsageError(
                "--env without a name: write KEY=VALUE, or KEY to take the value from this environment."
            )
        yield name, value if separator else _of_caller(name, f"--env {name}")


def _of_caller(name: str, where: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise VariableUnsetError(
            f"the variable {name} is not set here, and {where} takes its value from this environment",
            remedy=[f"Set it first, or write {name}=VALUE."],
        )
    return value


def _of_file(path: str) -> Iterator[tuple[str, str]]:
    """Read a file as docker does: no quotes, no escapes, and a line that starts with `#` is a comment."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        entry = line.removesuffix("\r").lstrip()
        if not entry or entry.startswith("#"):
            continue
        name, separator, value = entry.partition("=")
        if not name or name.split() != [name]:
            raise EnvFileError(
                f"{path} is not a valid environment file",
                details=[
                    f"{path}:{number}   {'missing name before the =' if not name else 'the name contains a space'}"
                ],
                remedy=["Write KEY=VALUE on each line, or KEY to take the value from this environment."],
            )
        yield name, value if separator else _of_caller(name, f"{path}:{number}")


def _text(path: str) -> str:
    content = _content(path)
    if len(content) > _LARGEST:
        raise EnvFileError(f"{path} is too large for an environment file: more than {_LARGEST >> 20} MiB")
    try:
        return content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EnvFileError(
            f"{path} is not UTF-8 text", details=[f"{path}:{line}"], remedy=["Save it as UTF-8."]
        ) from error


def _content(path: str) -> bytes:
    """Read a regular file, or a pipe of the shell (`<(command)`). A named FIFO may have no writer, and would block."""
    import stat

    try:
        mode = os.stat(path).st_mode
        piped = stat.S_ISFIFO(mode) and path.startswith(("/dev/", "/proc/"))
        if not (stat.S_ISREG(mode) or piped):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise EnvFileError(f"the environment file {path!r} is {kind}", remedy=["Give a file with KEY=VALUE lines."])
        with open(path, "rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise EnvFileError(
            f"the environment file {path!r} cannot be read: {error.strerror}",
            remedy=["Check the path after --env-file."],
        ) from error
