"""`--build DIR`: build the image of a job before the job is made."""

import os
import re
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.ended_by_signals import ended_by_signals

if TYPE_CHECKING:
    from smlocal.platforms.job_files import AnyJobFile


def with_built_image(given: dict[str, Any], *, image_needed: bool) -> dict[str, Any]:
    """The options of a job whose image is built: it is not pulled, and without a name it gets that of its folder."""
    folder = given["build"]
    if folder is None:
        return given
    from smlocal.engine.build import check_dockerfile

    if given["pull"] == "always":
        raise click.UsageError("--build and --pull always: an image that was just built is not pulled.")
    check_dockerfile(folder)
    image = given["image"] or (folder_image(folder) if image_needed else None)
    return {**given, "image": image, "pull": given["pull"] or "missing"}


def build_job_image(job: "AnyJobFile", folder: str, *, quiet: bool) -> None:
    """Build the Dockerfile in the folder, under the name of the job's image."""
    from smlocal.engine.build import build_image
    from smlocal.engine.docker import connect
    from smlocal.platforms.sagemaker.jobfile.job_file import JobFile

    if not isinstance(job, JobFile):
        raise click.UsageError("--build is for CreateTrainingJob requests, which have one image: build it first.")
    specification = job.request.AlgorithmSpecification
    image = (specification.TrainingImage if specification is not None else None) or ""
    if "@" in image:
        raise click.UsageError(f"--build: {image} has a digest, which a new image cannot get. Give a tag with --image.")
    with ended_by_signals():
        build_image(connect(), folder, image, quiet=quiet)


def folder_image(folder: str) -> str:
    """A name for the image of a folder: that of the folder, in characters that a name may have."""
    name = os.path.basename(os.path.realpath(folder)).lower()
    return f"{re.sub('[^a-z0-9]+', '-', name).strip('-') or 'my-image'}:latest"
