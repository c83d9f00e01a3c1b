"""A path as users write it, made absolute."""

import os


def local_path(text: str, directory: str) -> str:
    """Return the absolute path for a plain path or a `file://` URI; relative ones start from `directory`.

    `~/` is the home folder, because neither YAML nor every shell expands it in `train=~/data`; write `./~` for a folder
    named `~`. `file://localhost/data` is `/data`, by the standard; `file://./data` is not a valid URI, but tools
    of the service accept it. A final `/` is kept: it means a folder.
    """
    path = text.removeprefix("file://")
    if path != text and path.startswith("localhost/"):
        path = path.removeprefix("localhost")
    if path == text and (path == "~" or path.startswith("~/")):
        path = os.path.expanduser(path)
    return os.path.join(directory, path)


def cleaned(path: str) -> str:
    """Remove `.`, `..` and double slashes; `link/..` is resolved as the kernel does."""
    parts = path.split("/")
    if ".." in parts:
        behind = len(parts) - parts[::-1].index("..")
        path = "/".join([os.path.realpath("/".join(parts[:behind])), *parts[behind:]])
    return "/" + os.path.normpath(path).lstrip("/")
