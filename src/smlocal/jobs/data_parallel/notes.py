"""Notes on the data parallel library: its stand-in, and what the library would say to the request."""

from smlocal.jobs.data_parallel import rules
from smlocal.jobs.data_parallel.requested import ENABLED, asks_for_data_parallel
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.jobfile.job_file import JobFile


def _stand_in(plan: JobPlan, job: JobFile) -> str | None:
    if plan.data_parallel is None:
        return None
    how = "balanced: equal parts of each buffer" if plan.data_parallel.mode == "balanced" else "gloo, or NCCL on GPUs"
    how = f"{how}; TensorFlow's own collectives"
    return (
        "smdistributed.dataparallel and smddprun: those of the image if it has them, else smlocal's stand-in "
        f"({how}); the log and describe say which was used"
    )


def _off(plan: JobPlan, job: JobFile) -> str | None:
    if plan.data_parallel is not None or not asks_for_data_parallel(job.request):
        return None
    return f"{ENABLED} is set and Local.DataParallel is never: the image must contain the data parallel library"


def _types(plan: JobPlan, job: JobFile) -> str | None:
    return rules.unsupported_types(job.request, [host.host for host in plan.hosts])


def _processes(plan: JobPlan, job: JobFile) -> str | None:
    gpus_here = any(host.accelerators.gpus is not None for host in plan.hosts)
    return rules.processes(job.request, [host.host for host in plan.hosts], gpus_here=gpus_here)


def _groups(plan: JobPlan, job: JobFile) -> str | None:
    return rules.groups(job.request, [host.host for host in plan.hosts])


DISTRIBUTED_RULES = (
    NoteRule(id="data-parallel-type", says=_types, warning=True),
    NoteRule(id="data-parallel-processes", says=_processes, warning=True),
    NoteRule(id="data-parallel-groups", says=_groups, warning=True),
    NoteRule(id="data-parallel-off", says=_off, warning=True),
    NoteRule(id="data-parallel", says=_stand_in),
)
