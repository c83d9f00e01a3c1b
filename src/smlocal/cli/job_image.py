"""Build the image of one job, for every engine that runs it."""

from typing import TYPE_CHECKING

import click

from smlocal.api.job_files import as_training_job
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.engine.build import build_image
from smlocal.engine.engines import engines_named
from smlocal.engine.interface import Engine
from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
from smlocal.sagemaker.contract.requested_hosts import hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob


def build_job_image(job: "AskedJob", folder: str, *, quiet: bool) -> None:
    """Build the Dockerfile in the folder, under the name of the job's image."""
    equal = as_training_job(job)
    if equal is None:
        raise click.UsageError("--build is for CreateTrainingJob requests, which have one image: build it first.")
    specification = equal.request.AlgorithmSpecification
    image = (specification.TrainingImage if specification is not None else None) or ""
    if "@" in image:
        raise click.UsageError(f"--build: {image} has a digest, which a new image cannot get. Give a tag with --image.")
    with ended_by_signals():
        engines = [*engines_named(_used(equal))]
        build_image(engines[0], folder, image, quiet=quiet)
        for engine in engines[1:]:
            _bring(image, engines[0], engine, quiet=quiet)


def _used(job: JobFile) -> list[str]:
    """Names of the engines that run the job's hosts. Empty if the default engine runs them all."""
    resources, local = job.request.ResourceConfig, job.local
    if not local.Engines or resources is None:
        return []
    placed = engine_of_each([host.name for host in hosts_of(resources)], local.Engines, local.Placement)
    return list(dict.fromkeys(placed.values()))


def _bring(image: str, source: Engine, target: Engine, *, quiet: bool) -> None:
    """Replace what another engine has under this name, unless its machine cannot run what was built."""
    if target.image(image) == source.image(image) or target.facts().architecture != source.facts().architecture:
        return
    if not quiet:
        click.echo(f"sending {image} to {target.facts().address}", err=True)
    target.load(source.save(image))
