"""What is shown when a job starts."""

from collections import Counter
from typing import Final

from smlocal.contract.statuses import JobPhase, StopCause
from smlocal.job.view import StartView
from smlocal.planning.model import JobPlan
from smlocal.platforms.ai_platform.lifecycle.job_states import JobState
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.shape import job_kind
from smlocal.platforms.ai_platform.state_words import word_of

_STATES: Final = {
    JobPhase.STARTING: JobState.PREPARING,
    JobPhase.TRAINING: JobState.RUNNING,
    JobPhase.STOPPING: JobState.CANCELLING,
}
_LIMITS: Final = {JobKind.TRAINING_JOB: "maxRunningTime", JobKind.CUSTOM_JOB: "timeout"}


def start_of(plan: JobPlan) -> StartView:
    """`workerpool0: 1 × n1-standard-4 · workerpool1: 2 × n1-standard-4`."""
    kind = job_kind(plan.request)
    groups = Counter((host.host.group or "", host.host.instance_type) for host in plan.hosts)
    sizes = [f"{group}: {count} × {machine}" for (group, machine), count in groups.items()]
    return StartView(
        about=" · ".join((plan.image, *sizes)),
        members={
            "Name": plan.name,
            "Resource": plan.arn,
            "Replicas": [
                {
                    "Name": host.host.name,
                    "MachineType": host.host.instance_type,
                    "Image": plan.image if host.program is None else host.program.image,
                }
                for host in plan.hosts
            ],
        },
        phases={
            **{phase: word_of(state, kind) for phase, state in _STATES.items()},
            JobPhase.DOWNLOADING: "Containers",
        },
        causes={
            StopCause.REQUEST: "SIGTERM sent",
            StopCause.MAX_RUNTIME: f"{_LIMITS[kind]} reached, SIGTERM sent",
            StopCause.MAX_WAIT: "maxWaitTime reached, SIGTERM sent",
        },
    )
