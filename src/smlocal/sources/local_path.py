"""A path as users write it, made absolute."""

import os


def local_path(text: str, directory: str) -> str:
    """Return the absolute path for a plain path or a `file://` URI; relative ones start from `directory`.

    `~/` is the home folder, since neither YAML nor every shell expands it in `train=~/data`; a folder that is really
    called `~` is `./~`. `file://localhost/data` is `/data`, as the standard has it; `file://./data` is no valid URI but
    is what SageMaker's own local mode takes, so it works. A trailing `/` is kept: it says that a folder is meant.
    """
    path = text.removeprefix("file://")
    if path != text and path.startswith("localhost/"):
        path = path.removeprefix("localhost")
    if path == text and (path == "~" or path.startswith("~/")):
        path = os.path.expanduser(path)
    return os.path.join(directory, path)


def cleaned(path: str) -> str:
    """Drop `.`, `..` and double slashes without changing what is named (`link/..` is not where it looks)."""
    parts = path.split("/")
    if ".." in parts:
        behind = len(parts) - parts[::-1].index("..")
        path = "/".join([os.path.realpath("/".join(parts[:behind])), *parts[behind:]])
    return "/" + os.path.normpath(path).lstrip("/")
