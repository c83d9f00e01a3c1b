"""Writes a new file for the user. Existing files are never overwritten."""

import os
from contextlib import suppress

import click

from smlocal.errors import NewFileError


def check_new_file(path: str, option: str) -> None:
    """`NewFileError` if there is anything at the path; `-` is standard output. `option` chooses another path."""
    if path != "-" and os.path.lexists(path):
        raise _exists(path, option)


def check_new_folder(path: str, option: str) -> None:
    """`NewFileError` if there is a folder with anything in it at the path."""
    with suppress(OSError):  # the write reports an unreadable folder
        if os.listdir(path):
            raise NewFileError(
                f"the folder {path} is not empty, and nothing is overwritten",
                remedy=[f"Choose a new folder with {option} DIR."],
            )


def write_new_file(path: str, text: str, option: str) -> None:
    """Write the file, or print it."""
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise _exists(path, option) from error
    except OSError as error:
        raise NewFileError(
            f"{path or repr(path)} cannot be written: {error.strerror}", remedy=[f"Choose another {option}."]
        ) from error
    click.echo(f"wrote {path}", err=True)


def _exists(path: str, option: str) -> NewFileError:
    return NewFileError(
        f"{path} exists already, and nothing is overwritten", remedy=[f"Choose another name with {option} FILE."]
    )
