"""What a request says about the life of its job, in the words of the lifecycle."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from smlocal.platforms.ai_platform.lifecycle import rules
from smlocal.platforms.ai_platform.lifecycle.messages import OTHER_REGION_OR_ACCELERATOR, OTHER_REGION_OR_K80
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.replicas import Replica
from smlocal.platforms.ai_platform.validation.values import seconds

_SEVEN_DAYS: Final = "604800s"


def lifecycle_rules(kind: JobKind, request: Mapping[str, Any], *, region: str) -> rules.Rules:
    """The rules of a job; grace and delay are the lifecycle's own."""
    if kind is JobKind.TRAINING_JOB:
        scheduling = request["trainingInput"].get("scheduling", {})
        return rules.Rules(
            region=region,
            max_running=seconds(scheduling.get("maxRunningTime", _SEVEN_DAYS)),
            max_wait=seconds(scheduling["maxWaitTime"]) if "maxWaitTime" in scheduling else None,
            stock_out_advice=OTHER_REGION_OR_K80,
        )
    scheduling = request["jobSpec"].get("scheduling", {})
    return rules.Rules(
        region=region,
        max_running=seconds(scheduling.get("timeout", _SEVEN_DAYS)),
        restart_job_on_worker_restart=scheduling.get("restartJobOnWorkerRestart", False),
        disable_retries=scheduling.get("disableRetries", False),
        stock_out_advice=OTHER_REGION_OR_ACCELERATOR,
    )


def lifecycle_replicas(replicas: Iterable[Replica]) -> tuple[rules.Replica, ...]:
    """The replicas, as the lifecycle knows them."""
    return tuple(rules.Replica(name=each.name, primary=each.is_primary) for each in replicas)
