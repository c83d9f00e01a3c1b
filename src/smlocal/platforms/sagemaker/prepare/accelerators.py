"""The GPUs and Neuron devices that a job needs. It never runs without them unless the user allows it."""

from smlocal.contract.hosts import Host
from smlocal.job.prepare.placed_engines import PlacedEngine
from smlocal.planning.facts import GpuFacts
from smlocal.planning.gpus import wants_gpus
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.hosts import hosts_of
from smlocal.platforms.sagemaker.planning.neuron import neuron_devices
from smlocal.platforms.sagemaker.prepare.job_image import image_name


def gpu_facts(job: JobFile, placed: PlacedEngine, *, required: bool = True) -> GpuFacts:
    """The GPUs of an engine's machine, if its hosts need any. Too few are an error if they are `required`."""
    hosts, engine, facts = _hosts(job, placed), placed.engine, placed.facts
    if not wants_gpus(hosts, job.local):
        return GpuFacts()
    from smlocal.job.prepare.gpu_checks import check_gpu_count, check_gpu_driver, find_gpus

    gpus = find_gpus(engine, facts)
    if required:
        check_gpu_count(hosts, job.local, gpus)
        if engine.image(image_name(job)) is None:
            check_gpu_driver(hosts, job.local, gpus, facts, image_name(job))
    return gpus


def neuron_count(job: JobFile, placed: PlacedEngine, *, required: bool = True) -> int | None:
    """The number of Neuron devices, if its hosts need any. Too few of them are an error if they are `required`."""
    hosts, facts = _hosts(job, placed), placed.facts
    if not any(neuron_devices(hosts, job.local)):
        return None
    from smlocal.platforms.sagemaker.prepare.neuron_checks import check_neuron_count, count_neuron_devices

    there = count_neuron_devices(facts)
    if required:
        check_neuron_count(hosts, job.local, there)
    return there


def try_accelerators(job: JobFile, gpus: GpuFacts, placed: PlacedEngine) -> None:
    """Try whether the engine gives them to a container."""
    hosts, engine = _hosts(job, placed), placed.engine
    if wants_gpus(hosts, job.local):
        from smlocal.job.prepare.gpu_checks import try_gpus

        try_gpus(hosts, job.local, gpus, engine, image_name(job))
    if any(neuron_devices(hosts, job.local)):
        from smlocal.platforms.sagemaker.prepare.neuron_checks import try_neuron

        try_neuron(hosts, job.local, engine, image_name(job))


def _hosts(job: JobFile, placed: PlacedEngine) -> tuple[Host, ...]:
    """The hosts of the job on this engine."""
    resources = job.request.ResourceConfig
    return () if resources is None else tuple(host for host in hosts_of(resources) if host.name in placed.hosts)
