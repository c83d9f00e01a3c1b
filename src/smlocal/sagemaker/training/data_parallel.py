"""The data parallel library in a request: whether a job gets the stand-in, with which settings, and its notes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.data_parallel.plan import DDP_ENABLED, ENABLED, DataParallelPlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.hosts import Host

SUPPORTED: Final = ("ml.p3.16xlarge", "ml.p3dn.24xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge")
"""The instance types that the library runs on."""
PROCESSES: Final = "sagemaker_mpi_num_of_processes_per_host"
"""The hyperparameter by which the toolkit starts another number of processes than there are GPUs."""
GROUPS: Final = "sagemaker_distribution_instance_groups"
"""The hyperparameter with the names of the groups whose hosts the toolkit starts together."""


def asks_for_library(request: Mapping[str, Any]) -> bool:
    """True if the toolkit will start the script with the library, or with its launcher."""
    return any(_is_true(request, name) for name in (ENABLED, DDP_ENABLED))


def asks_for_data_parallel(request: Mapping[str, Any]) -> bool:
    """True if the toolkit will start the script with the library."""
    return _is_true(request, ENABLED)


def hyperparameter(request: Mapping[str, Any], name: str) -> Any:
    """A hyperparameter as the toolkit reads it: JSON, or else text. None if it is missing."""
    text = (request.get("HyperParameters") or {}).get(name)
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def data_parallel_of(request: Mapping[str, Any], local: LocalSettings) -> DataParallelPlan | None:
    """None if the containers do not get the stand-in."""
    choice = local.DataParallel
    if isinstance(choice, dict):
        return DataParallelPlan(mode=choice.get("Mode", "plain"), fusion_buffer_bytes=choice.get("FusionBufferBytes"))
    if choice == "never" or (choice == "auto" and not asks_for_library(request)):
        return None
    return DataParallelPlan(strict=choice == "strict")


def _is_true(request: Mapping[str, Any], name: str) -> bool:
    return bool(hyperparameter(request, name))


def _stand_in(plan: JobPlan, work: Workload) -> str | None:
    if plan.data_parallel is None:
        return None
    how = "balanced: equal parts of each buffer" if plan.data_parallel.mode == "balanced" else "gloo, or NCCL on GPUs"
    how = f"{how}; TensorFlow's own collectives"
    return (
        "smdistributed.dataparallel and smddprun: those of the image if it has them, else smlocal's stand-in "
        f"({how}); the log and describe say which was used"
    )


def _off(plan: JobPlan, work: Workload) -> str | None:
    if plan.data_parallel is not None or not asks_for_data_parallel(plan.request):
        return None
    return f"{ENABLED} is set and Local.DataParallel is never: the image must contain the data parallel library"


def _types(plan: JobPlan, work: Workload) -> str | None:
    return unsupported_types(plan.request, [host.host for host in plan.hosts])


def _processes(plan: JobPlan, work: Workload) -> str | None:
    gpus_here = any(host.accelerators.gpus is not None for host in plan.hosts)
    return processes(plan.request, [host.host for host in plan.hosts], gpus_here=gpus_here)


def _groups(plan: JobPlan, work: Workload) -> str | None:
    return groups(plan.request, [host.host for host in plan.hosts])


def unsupported_types(request: Mapping[str, Any], hosts: Sequence[Host]) -> str | None:
    """The instance types that the library does not run on."""
    if not asks_for_data_parallel(request):
        return None
    wrong = sorted({host.instance_type for host in hosts} - {*SUPPORTED})
    if not wrong:
        return None
    return f"the data parallel library does not run on {', '.join(wrong)}: only on {', '.join(SUPPORTED)}"


def processes(request: Mapping[str, Any], hosts: Sequence[Host], *, gpus_here: bool) -> str | None:
    """A number of processes for each host that is not the number of its GPUs."""
    if not asks_for_library(request):
        return None
    given = hyperparameter(request, PROCESSES)
    kinds = {host.instance_type: _gpus(host) for host in hosts}
    if given is None:
        return _without_number({kind: gpus for kind, gpus in kinds.items() if gpus and not gpus_here})
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        return f"{PROCESSES} is {given!r}: the toolkit needs a whole number of processes for each host, 1 or more"
    other = [f"{kind} has {gpus} GPUs" for kind, gpus in kinds.items() if gpus is not None and gpus != given]
    if not other:
        return None
    return f"{PROCESSES} is {given}, and {', '.join(other)}: the library wants one process for each GPU"


def _without_number(kinds: dict[str, int | None]) -> str | None:
    if not kinds:
        return None
    said = ", ".join(f"{gpus} on {kind}" for kind, gpus in kinds.items())
    return (
        f"without GPUs the toolkit starts one process for each host; on the service, one for each GPU ({said}): "
        "--processes-per-host N starts N"
    )


def groups(request: Mapping[str, Any], hosts: Sequence[Host]) -> str | None:
    """Hosts that the toolkit does not start together, because their group is not named."""
    if not asks_for_library(request):
        return None
    named = hyperparameter(request, GROUPS)
    if named is None:  # the toolkit takes the group of each host
        own = sorted({host.group for host in hosts})
        text = f"{GROUPS} is missing: the toolkit starts the script in each of the groups {', '.join(own)} by itself"
        return text if len(own) > 1 else None
    named = named if isinstance(named, list) else []
    outside = [host.name for host in hosts if host.group not in named]
    if not outside:
        return None
    return (
        f"{GROUPS} does not name the group of {', '.join(outside)}: the toolkit starts the script there once, "
        "without the library"
    )


def _gpus(host: Host) -> int | None:
    """None for `local` and `local_gpu`."""
    return None if host.is_this_machine else host.gpus


DISTRIBUTED_RULES = (
    NoteRule(id="data-parallel-type", says=_types, warning=True),
    NoteRule(id="data-parallel-processes", says=_processes, warning=True),
    NoteRule(id="data-parallel-groups", says=_groups, warning=True),
    NoteRule(id="data-parallel-off", says=_off, warning=True),
    NoteRule(id="data-parallel", says=_stand_in),
)
