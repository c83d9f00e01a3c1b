"""The build context of the image: the probe and its Dockerfile, and the requests and data of the jobs."""

import json
import os
from hashlib import sha256

from smlocal.conformance.cases import DATA, Case, request
from smlocal.errors import OutputUnusableError

DEFAULT_BASE = "python:3.11-slim-bookworm"
"""As the Dockerfile says too."""
_HERE = os.path.dirname(__file__)
_NAMES = ("Dockerfile", "probe.py")


def image_tag(base: str) -> str:
    """The name of the image on this base: another one with each change of the probe."""
    digest = sha256("\0".join([base, *(_content(name) for name in _NAMES)]).encode()).hexdigest()
    return f"smlocal-conformance:{digest[:12]}"


def write_context(folder: str, *, base: str = DEFAULT_BASE) -> None:
    """What `docker build` needs."""
    for name in _NAMES:
        write_file(folder, name, _content(name).replace(f"BASE={DEFAULT_BASE}\n", f"BASE={base}\n").encode())


def write_jobs(folder: str) -> None:
    """A request for each job, in which image, role and bucket are to be filled in; and the data."""
    for case in Case:
        asked = request(case, name=f"conformance-{case}")
        write_file(folder, f"{case}.json", f"{json.dumps(asked, indent=2)}\n".encode())
    write_data(os.path.join(folder, "data"))


def write_data(folder: str) -> None:
    """The objects of the channels, as files."""
    for name, content in DATA.items():
        write_file(folder, name, content)


def _content(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read()


def write_file(folder: str, name: str, content: bytes) -> None:
    """`OutputUnusableError` if that is not possible."""
    path = os.path.join(folder, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise OutputUnusableError(
            f"{path} cannot be written: {error.strerror}", remedy=["Choose another folder with --output."]
        ) from error
