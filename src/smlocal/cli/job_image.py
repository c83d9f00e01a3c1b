"""Build the image of one job, for every engine that runs it."""

from typing import TYPE_CHECKING

import click

from smlocal.api.job_files import workload_of
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.engine.engines import engines_named
from smlocal.engine.interface import Engine
from smlocal.engine.pull import build_image
from smlocal.jobs.planning.aspects.engines.plan import engine_of_each

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob
    from smlocal.jobs.planning.workload import Workload


def build_job_image(job: "AskedJob", folder: str, *, quiet: bool) -> None:
    """Build the Dockerfile in the folder, under the name of the job's image."""
    work = workload_of(job)
    if work is None:
        raise click.UsageError("--build is for CreateTrainingJob requests, which have one image: build it first.")
    image = work.image
    if "@" in image:
        raise click.UsageError(f"--build: {image} has a digest, which a new image cannot get. Give a tag with --image.")
    with ended_by_signals():
        engines = [*engines_named(_used(work))]
        build_image(engines[0], folder, image, quiet=quiet)
        for engine in engines[1:]:
            _bring(image, engines[0], engine, quiet=quiet)


def _used(work: "Workload") -> list[str]:
    """Names of the engines that run the job's hosts. Empty if the default engine runs them all."""
    if work.local.SpreadOver and not (work.local.Engines and len(work.hosts) > 1):
        return work.local.SpreadOver
    if not work.local.Engines:
        return []
    placed = engine_of_each([host.name for host in work.hosts], work.local.Engines, work.local.Placement)
    return list(dict.fromkeys(placed.values()))


def _bring(image: str, source: Engine, target: Engine, *, quiet: bool) -> None:
    """Replace what another engine has under this name, unless its machine cannot run what was built."""
    if target.image(image) == source.image(image) or target.facts().architecture != source.facts().architecture:
        return
    if not quiet:
        click.echo(f"sending {image} to {target.facts().address}", err=True)
    target.load(source.save(image))
