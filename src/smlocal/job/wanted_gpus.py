"""The GPUs of a job that asks for some: a request for them never silently becomes a CPU run."""

from smlocal.contract.job_file import JobFile
from smlocal.engine.interface import Engine
from smlocal.job.image import image_name
from smlocal.plan.facts import EngineFacts, GpuFacts
from smlocal.plan.gpus import wants_gpus
from smlocal.plan.hosts import hosts_of


def gpus_for(job: JobFile, engine: Engine, facts: EngineFacts, *, must: bool = True) -> GpuFacts:
    """Those that are here; only for a job that asks for some, and those that it `must` have are counted."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return GpuFacts()
    from smlocal.job.gpus import check_count, check_driver, see_gpus

    gpus = see_gpus(engine, facts)
    if must:
        check_count(hosts, job.local, gpus)
        if engine.image(image_name(job)) is None:
            check_driver(hosts, job.local, gpus, facts, image_name(job))
    return gpus


def check_gpus(job: JobFile, gpus: GpuFacts, engine: Engine) -> None:
    """Ask the engine for them before anything is staged."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return
    from smlocal.job.gpus import check_engine

    check_engine(hosts, job.local, gpus, engine, image_name(job))
