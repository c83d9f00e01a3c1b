"""The views of GPUs and Neuron devices: notes where they differ from the instance types, rows, docker's options."""

from collections.abc import Iterator
from shlex import quote

from smlocal.jobs.planning.aspects.accelerators.plan import HostAccelerators
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.hosts import EVERY


def host_kinds(plan: JobPlan) -> list[str]:
    """The instance types, each once, with the GPUs of a host."""
    kinds = {host.host.instance_type: host.accelerators.gpus for host in plan.hosts}
    return [kind + ("" if devices is None else f", {_gpus(devices)} each") for kind, devices in kinds.items()]


def _gpus(devices: GpuDevices) -> str:
    count = len(devices.ids)
    return f"{count or 'all'} GPU{'s' * (count != 1)}"


def device_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The GPUs and Neuron devices of each host."""
    means = "CDI devices" if plan.engines.machine.accelerators.gpus.cdi else "a device request"
    shown = [
        f"{host.host.name}: {', '.join(host.accelerators.gpus.ids) or 'all'}"
        for host in plan.hosts
        if host.accelerators.gpus is not None
    ]
    if shown:
        yield "GPUs", f"{'; '.join(shown)} (by {means})"
    neuron = [
        f"{host.host.name}: {', '.join(host.accelerators.neuron)}" for host in plan.hosts if host.accelerators.neuron
    ]
    if neuron:
        yield "Neuron", "; ".join(neuron)


def device_options(given: HostAccelerators) -> Iterator[str]:
    """The options of docker for the devices of one container."""
    devices = given.gpus
    if devices is not None and not devices.cdi:
        # The inner quotes are for docker, which reads the value as CSV.
        yield "--gpus all" if devices.every else "--gpus " + quote(f'"device={",".join(devices.ids)}"')
    names = devices.names if devices is not None and devices.cdi else ()
    yield from (f"--device {quote(path)}" for path in (*names, *given.neuron))


def _allow_cpu(plan: JobPlan, work: Workload) -> str | None:
    without = [_has(host) for host in plan.hosts if host.host.gpus and host.accelerators.gpus is None]
    without += [_has_neuron(host) for host in plan.hosts if host.host.neuron and not host.accelerators.neuron]
    if not without:
        return None
    why = "--allow-cpu is set" if work.local.AllowCpu else f"Local.Gpus is {work.local.Gpus}"
    return f"{some(without)}; this run has none, because {why}"


def _has_neuron(host: HostPlan) -> str:
    count = host.host.neuron
    return f"{host.host.instance_type} has {count} Neuron device{'s' * (count != 1)}"


def _has(host: HostPlan) -> str:
    count, name = host.host.gpus, host.host.instance_type
    return f"{name} has {'all' if count == EVERY else count} GPU{'s' * (count != 1)}"


def _gpu_count(plan: JobPlan, work: Workload) -> str | None:
    differing = [
        f"{_has(host)}, {host.host.name} gets {host.accelerators.gpu_count or 'all'}"
        for host in plan.hosts
        if host.accelerators.gpus is not None and host.host.gpus not in {host.accelerators.gpu_count, EVERY}
    ]
    return f"number of GPUs differs from the service: {some(differing)}" if differing else None


def _unseen(plan: JobPlan, work: Workload) -> str | None:
    facts, asked = plan.engines.machine.accelerators.gpus, sum(host.accelerators.gpu_count for host in plan.hosts)
    if all(host.accelerators.gpus is None for host in plan.hosts) or (
        facts.ids is not None and asked <= len(facts.ids)
    ):
        return None
    gpus = "GPUs" if not asked else f"{asked} GPU{'s' * (asked != 1)}"
    if facts.ids is not None:
        return f"the job requests {gpus} and this machine has {len(facts.ids)}: a run will be refused"
    said = facts.trouble or "nvidia-smi was not found"
    return f"the job requests {gpus}, and {said}: a run starts only if the engine provides them anyway"


def _neuron_unseen(plan: JobPlan, work: Workload) -> str | None:
    there, asked = plan.engines.machine.accelerators.neuron, sum(len(host.accelerators.neuron) for host in plan.hosts)
    if not asked or (there is not None and asked <= there):
        return None
    demand = f"the job needs {asked} Neuron device{'s' * (asked != 1)}"
    if there is None:
        return f"{demand}: whether the engine's machine has them is checked when the job runs"
    return f"{demand} and this machine has {there}: a run will be refused (--allow-cpu runs it without them)"


def _shared(plan: JobPlan, work: Workload) -> str | None:
    busy = plan.engines.machine.accelerators.gpus.busy
    mine = [gpu for host in plan.hosts if host.accelerators.gpus is not None for gpu in host.accelerators.gpus.ids]
    used = [f"GPU {gpu} is also used by the job {busy[gpu]}" for gpu in mine if gpu in busy]
    return f"{some(used)}: they share its memory and time" if used else None


GPU_RULES = (
    NoteRule(id="gpus-unseen", says=_unseen, warning=True),
    NoteRule(id="neuron-unseen", says=_neuron_unseen, warning=True),
    NoteRule(id="gpus-shared", says=_shared, warning=True),
    NoteRule(id="allow-cpu", says=_allow_cpu),
    NoteRule(id="gpu-count", says=_gpu_count),
)
