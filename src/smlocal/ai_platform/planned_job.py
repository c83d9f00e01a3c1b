"""A planned job, and the limits and retries of its request, in the words of the lifecycle."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from smlocal.ai_platform.lifecycle import progress
from smlocal.ai_platform.lifecycle.messages import OTHER_REGION_OR_ACCELERATOR, OTHER_REGION_OR_K80
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.replicas import Replica, replicas
from smlocal.ai_platform.shape import job_kind
from smlocal.ai_platform.validation.reading import seconds
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.model import JobPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedJob:
    """Its replicas and rules."""

    replicas: tuple[progress.ReplicaProgress, ...]
    rules: progress.Rules
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The names that the service gives to replicas, by host."""

    @classmethod
    def of(cls, plan: JobPlan) -> "PlannedJob":
        """From the request in the plan."""
        kind = job_kind(plan.request)
        planned = replicas(kind, plan.request, job=plan.name)
        given = lifecycle_rules(kind, plan.request, region=plan.identity.region)
        return cls(
            replicas=lifecycle_replicas(planned),
            rules=replace(given, grace=float(plan.stop.grace)),
            hosts={each.host: each.name for each in planned},
        )

    def host_of(self, replica: str) -> str:
        """The host of a replica."""
        return next(host for host, name in self.hosts.items() if name == replica)


# The limits and retries of a request, in the words of the lifecycle.

_SEVEN_DAYS: Final = "604800s"


def lifecycle_rules(kind: ReplicaJobKind, request: Mapping[str, Any], *, region: str) -> progress.Rules:
    """The rules of a job; grace and delay are the lifecycle's own."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        scheduling = request["trainingInput"].get("scheduling", {})
        return progress.Rules(
            region=region,
            max_running=seconds(scheduling.get("maxRunningTime", _SEVEN_DAYS)),
            max_wait=seconds(scheduling["maxWaitTime"]) if "maxWaitTime" in scheduling else None,
            stock_out_advice=OTHER_REGION_OR_K80,
        )
    scheduling = request["jobSpec"].get("scheduling", {})
    return progress.Rules(
        region=region,
        max_running=seconds(scheduling.get("timeout", _SEVEN_DAYS)),
        restart_job_on_worker_restart=scheduling.get("restartJobOnWorkerRestart", False),
        disable_retries=scheduling.get("disableRetries", False),
        stock_out_advice=OTHER_REGION_OR_ACCELERATOR,
    )


def lifecycle_replicas(replicas: Iterable[Replica]) -> tuple[progress.ReplicaProgress, ...]:
    """The replicas, as the lifecycle knows them."""
    return tuple(progress.ReplicaProgress(name=each.name, primary=each.is_primary) for each in replicas)
