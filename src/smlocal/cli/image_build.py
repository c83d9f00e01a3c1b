"""`--build DIR`: build the image of a job before the job is made."""

import os
import re
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.ended_by_signals import ended_by_signals

if TYPE_CHECKING:
    from smlocal.api.job_files import AnyJobFile
    from smlocal.engine.interface import Engine
    from smlocal.sagemaker.jobfile.job_file import JobFile


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
    from smlocal.engine.engines import engines_named
    from smlocal.sagemaker.jobfile.job_file import JobFile
    from smlocal.sagemaker.processing.job_file import ProcessingFile

    if isinstance(job, ProcessingFile):
        from smlocal.sagemaker.processing.equal_training_job import equal_training_job

        job = equal_training_job(job)
    if not isinstance(job, JobFile):
        raise click.UsageError("--build is for CreateTrainingJob requests, which have one image: build it first.")
    specification = job.request.AlgorithmSpecification
    image = (specification.TrainingImage if specification is not None else None) or ""
    if "@" in image:
        raise click.UsageError(f"--build: {image} has a digest, which a new image cannot get. Give a tag with --image.")
    with ended_by_signals():
        engines = [*engines_named(_used(job))]
        build_image(engines[0], folder, image, quiet=quiet)
        for engine in engines[1:]:
            _bring(image, engines[0], engine, quiet=quiet)


def _used(job: "JobFile") -> list[str]:
    """The engines that run a host of the job, as they are named; none for the one that docker uses."""
    resources, local = job.request.ResourceConfig, job.local
    if not local.Engines or resources is None:
        return []
    from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
    from smlocal.sagemaker.contract.requested_hosts import hosts_of

    placed = engine_of_each([host.name for host in hosts_of(resources)], local.Engines, local.Placement)
    return list(dict.fromkeys(placed.values()))


def _bring(image: str, source: "Engine", target: "Engine", *, quiet: bool) -> None:
    """Replace what another engine has under this name, unless its machine cannot run what was built."""
    if target.image(image) == source.image(image) or target.facts().architecture != source.facts().architecture:
        return
    if not quiet:
        click.echo(f"sending {image} to {target.facts().address}", err=True)
    target.load(source.save(image))


def folder_image(folder: str) -> str:
    """A name for the image of a folder: that of the folder, in characters that a name may have."""
    name = os.path.basename(os.path.realpath(folder)).lower()
    return f"{re.sub('[^a-z0-9]+', '-', name).strip('-') or 'my-image'}:latest"
