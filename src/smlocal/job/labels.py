"""The labels of everything of one job on an engine."""

from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Engine, Resource
from smlocal.planning.model import JobPlan

HOST_LABEL = "smlocal.host"
"""On a container: the name of its host."""
GPUS_LABEL = "smlocal.gpus"
"""On a container: the ids of its GPUs, so that other jobs use other GPUs if they can."""


def labels(plan: JobPlan) -> dict[str, str]:
    """The labels of a job's containers, volumes and networks."""
    return {JOB_LABEL: plan.name, RUN_LABEL: plan.run_id}


def owned_by(engine: Engine, job: str, run_id: str) -> list[Resource]:
    """Everything of this run on the engine, in the order of removal; not of other jobs with the same name."""
    return [resource for resource in engine.owned(job) if resource.labels.get(RUN_LABEL) == run_id]
