"""A path as users write it, made absolute. Here, and nowhere else, it is checked whether the job may use it."""

import os

from smlocal.contract.rights import Rights
from smlocal.errors import PathNotAllowedError

_LONGEST = 4096
"""Bytes of a path on Linux."""
_SHOWN = 100


def local_path(text: str, directory: str, rights: Rights, rest: str = "") -> str:
    """Return the absolute path for a plain path or a `file://` URI; relative ones start from `directory`.

    `rest` is put behind it: the part of a key below a mapped folder. `~/` is the home folder, because neither YAML nor
    every shell expands it in `train=~/data`; write `./~` for a folder named `~`. `file://localhost/data` is `/data`, by
    the standard; `file://./data` is not a valid URI, but tools of the service accept it. A final `/` is kept: it means
    a folder. `PathNotAllowedError` if the job has no right to the path. There is no link in the path of a job with
    limited rights.
    """
    path = text.removeprefix("file://")
    if path != text and path.startswith("localhost/"):
        path = path.removeprefix("localhost")
    if path == text and (path == "~" or path.startswith("~/")):
        path = os.path.expanduser(path)
    path = os.path.join(directory, path)
    if rest:
        base = cleaned(path) if rights.links else path
        path = f"{base.rstrip('/')}/{rest}"
    return path if rights.folders is None else _allowed(f"{text}/{rest}" if rest else text, path, rights.folders)


def cleaned(path: str) -> str:
    """Remove `.`, `..` and double slashes; `link/..` is resolved as the kernel does."""
    parts = path.split("/")
    if ".." in parts:
        behind = len(parts) - parts[::-1].index("..")
        path = "/".join([os.path.realpath("/".join(parts[:behind])), *parts[behind:]])
    return "/" + os.path.normpath(path).lstrip("/")


def _allowed(written: str, path: str, folders: tuple[str, ...]) -> str:
    """The path without links, if it is in one of these folders, and nothing below that folder is a link."""
    if len(path) > _LONGEST:  # each of its folders would be looked for, in time that grows with its square
        raise _refused(f"no file can have the name '{written[:_SHOWN]}…'")
    try:
        path.encode("utf-8", "surrogateescape")
        if "\0" in path:
            raise _refused(f"no file can have the name {written!r}")
    except UnicodeEncodeError:  # half a surrogate pair
        raise _refused(f"no file can have the name {written!r}") from None
    plain = "/" + os.path.normpath(path).lstrip("/")
    linked = None
    for folder in folders:
        if plain != folder and not plain.startswith(f"{folder.rstrip('/')}/"):
            continue
        top = os.path.realpath(folder)
        found = os.path.join(top, plain[len(folder) :].lstrip("/")).rstrip("/") or "/"
        if os.path.realpath(found) == found:
            return f"{found}/" if path.endswith("/") and found != "/" else found
        linked = folder
    if linked is not None:
        raise _refused(f"the path '{written}' has a link below {linked}, and this job does not follow those")
    raise _refused(f"this job may not use the path '{written}' of this machine")


def _refused(sentence: str) -> PathNotAllowedError:
    return PathNotAllowedError(
        sentence,
        remedy=("The owner of the endpoint can allow a folder: smlocal serve --allow-path DIR",),
    )
