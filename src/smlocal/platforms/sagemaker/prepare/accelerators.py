"""The GPUs and Neuron devices that a job needs. It never runs without them unless the user allows it."""

from smlocal.engine.interface import Engine
from smlocal.planning.facts import EngineFacts, GpuFacts
from smlocal.planning.gpus import wants_gpus
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.hosts import hosts_of
from smlocal.platforms.sagemaker.planning.neuron import neuron_devices
from smlocal.platforms.sagemaker.prepare.job_image import image_name


def gpu_facts(job: JobFile, engine: Engine, facts: EngineFacts, *, required: bool = True) -> GpuFacts:
    """The GPUs of the machine, if the job needs any. Too few of them are an error if they are `required`."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return GpuFacts()
    from smlocal.job.prepare.gpu_checks import check_gpu_count, check_gpu_driver, find_gpus

    gpus = find_gpus(engine, facts)
    if required:
        check_gpu_count(hosts, job.local, gpus)
        if engine.image(image_name(job)) is None:
            check_gpu_driver(hosts, job.local, gpus, facts, image_name(job))
    return gpus


def neuron_count(job: JobFile, facts: EngineFacts, *, required: bool = True) -> int | None:
    """The number of Neuron devices, if the job needs any. Too few of them are an error if they are `required`."""
    resources = job.request.ResourceConfig
    if resources is None or not any(neuron_devices(hosts := hosts_of(resources), job.local)):
        return None
    from smlocal.platforms.sagemaker.prepare.neuron_checks import check_neuron_count, count_neuron_devices

    there = count_neuron_devices(facts)
    if required:
        check_neuron_count(hosts, job.local, there)
    return there


def try_accelerators(job: JobFile, gpus: GpuFacts, engine: Engine) -> None:
    """Try whether the engine gives them to a container."""
    resources = job.request.ResourceConfig
    if resources is None:
        return
    hosts = hosts_of(resources)
    if wants_gpus(hosts, job.local):
        from smlocal.job.prepare.gpu_checks import try_gpus

        try_gpus(hosts, job.local, gpus, engine, image_name(job))
    if any(neuron_devices(hosts, job.local)):
        from smlocal.platforms.sagemaker.prepare.neuron_checks import try_neuron

        try_neuron(hosts, job.local, engine, image_name(job))
