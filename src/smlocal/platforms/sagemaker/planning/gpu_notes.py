"""Notes on GPUs and Neuron devices, where they differ from the instance types."""

from smlocal.contract.hosts import EVERY
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.neuron import type_neuron
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule, some


def _allow_cpu(plan: JobPlan, job: JobFile) -> str | None:
    without = [_has(host) for host in plan.hosts if host.host.gpus and host.devices is None]
    without += [_has_neuron(host) for host in plan.hosts if type_neuron(host.host) and not host.neuron]
    if not without:
        return None
    why = "--allow-cpu is set" if job.local.AllowCpu else f"Local.Gpus is {job.local.Gpus}"
    return f"{some(without)}; this run has none, because {why}"


def _has_neuron(host: HostPlan) -> str:
    count = type_neuron(host.host)
    return f"{host.host.instance_type} has {count} Neuron device{'s' * (count != 1)}"


def _has(host: HostPlan) -> str:
    count, name = host.host.gpus, host.host.instance_type
    return f"{name} has {'all' if count == EVERY else count} GPU{'s' * (count != 1)}"


def _gpu_count(plan: JobPlan, job: JobFile) -> str | None:
    differing = [
        f"{_has(host)}, {host.host.name} gets {'all' if not host.gpus else host.gpus}"
        for host in plan.hosts
        if host.devices is not None and host.host.gpus not in {host.gpus, EVERY}
    ]
    return f"number of GPUs differs from the service: {some(differing)}" if differing else None


def _unseen(plan: JobPlan, job: JobFile) -> str | None:
    facts, asked = plan.machine.gpus, sum(host.gpus for host in plan.hosts)
    if all(host.devices is None for host in plan.hosts) or (facts.ids is not None and asked <= len(facts.ids)):
        return None
    gpus = "GPUs" if not asked else f"{asked} GPU{'s' * (asked != 1)}"
    if facts.ids is not None:
        return f"the job requests {gpus} and this machine has {len(facts.ids)}: a run will be refused"
    said = facts.trouble or "nvidia-smi was not found"
    return f"the job requests {gpus}, and {said}: a run starts only if the engine provides them anyway"


def _neuron_unseen(plan: JobPlan, job: JobFile) -> str | None:
    there, asked = plan.machine.neuron, sum(len(host.neuron) for host in plan.hosts)
    if not asked or (there is not None and asked <= there):
        return None
    demand = f"the job needs {asked} Neuron device{'s' * (asked != 1)}"
    if there is None:
        return f"{demand}: whether the engine's machine has them is checked when the job runs"
    return f"{demand} and this machine has {there}: a run will be refused (--allow-cpu runs it without them)"


def _shared(plan: JobPlan, job: JobFile) -> str | None:
    busy = plan.machine.gpus.busy
    mine = [gpu for host in plan.hosts if host.devices is not None for gpu in host.devices.ids]
    used = [f"GPU {gpu} is also used by the job {busy[gpu]}" for gpu in mine if gpu in busy]
    return f"{some(used)}: they share its memory and time" if used else None


GPU_RULES = (
    NoteRule(id="gpus-unseen", says=_unseen, warning=True),
    NoteRule(id="neuron-unseen", says=_neuron_unseen, warning=True),
    NoteRule(id="gpus-shared", says=_shared, warning=True),
    NoteRule(id="allow-cpu", says=_allow_cpu),
    NoteRule(id="gpu-count", says=_gpu_count),
)
