"""`--build DIR`: build the image of a job before the job is made."""

import os
import re
from typing import Any

import click


def with_built_image(given: dict[str, Any], *, image_needed: bool) -> dict[str, Any]:
    """The options of a job whose image is built: it is not pulled, and without a name it gets that of its folder."""
    folder = given["build"]
    if folder is None:
        return given
    from smlocal.engine.pull import check_dockerfile

    if given["pull"] == "always":
        raise click.UsageError("--build and --pull always: an image that was just built is not pulled.")
    check_dockerfile(folder)
    image = given["image"] or (folder_image(folder) if image_needed else None)
    return {**given, "image": image, "pull": given["pull"] or "missing"}


def folder_image(folder: str) -> str:
    """A name for the image of a folder: that of the folder, in characters that a name may have."""
    name = os.path.basename(os.path.realpath(folder)).lower()
    return f"{re.sub('[^a-z0-9]+', '-', name).strip('-') or 'my-image'}:latest"
