"""The GPUs and Neuron devices of a job that needs some: it never silently becomes a CPU run."""

from smlocal.engine.interface import Engine
from smlocal.job.prepare.image import image_name
from smlocal.jobfile.job_file import JobFile
from smlocal.planning.facts import EngineFacts, GpuFacts
from smlocal.planning.gpus import wants_gpus
from smlocal.planning.hosts import hosts_of
from smlocal.planning.neuron import neuron_devices


def gpus_for(job: JobFile, engine: Engine, facts: EngineFacts, *, must: bool = True) -> GpuFacts:
    """Those that are here; only for a job that asks for some, and those that it `must` have are counted."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return GpuFacts()
    from smlocal.job.prepare.gpus import check_count, check_driver, see_gpus

    gpus = see_gpus(engine, facts)
    if must:
        check_count(hosts, job.local, gpus)
        if engine.image(image_name(job)) is None:
            check_driver(hosts, job.local, gpus, facts, image_name(job))
    return gpus


def neuron_for(job: JobFile, facts: EngineFacts, *, must: bool = True) -> int | None:
    """How many Neuron devices are here; only looked at for a job that needs some, and counted where it `must` have."""
    resources = job.request.ResourceConfig
    if resources is None or not any(neuron_devices(hosts := hosts_of(resources), job.local)):
        return None
    from smlocal.job.prepare.neuron import check_neuron_count, count_neuron

    there = count_neuron(facts)
    if must:
        check_neuron_count(hosts, job.local, there)
    return there


def check_accelerators(job: JobFile, gpus: GpuFacts, engine: Engine) -> None:
    """Ask the engine for them before anything is staged."""
    resources = job.request.ResourceConfig
    if resources is None:
        return
    hosts = hosts_of(resources)
    if wants_gpus(hosts, job.local):
        from smlocal.job.prepare.gpus import check_engine

        check_engine(hosts, job.local, gpus, engine, image_name(job))
    if any(neuron_devices(hosts, job.local)):
        from smlocal.job.prepare.neuron import check_neuron_engine

        check_neuron_engine(hosts, job.local, engine, image_name(job))
