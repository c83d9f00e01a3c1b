"""A planned job in the words of the lifecycle."""

from collections.abc import Mapping
from dataclasses import field, replace

from smlocal.planning.model import JobPlan
from smlocal.platforms.ai_platform.lifecycle import rules
from smlocal.platforms.ai_platform.replicas import replicas
from smlocal.platforms.ai_platform.rules_of_request import lifecycle_replicas, lifecycle_rules
from smlocal.platforms.ai_platform.shape import job_kind
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedJob:
    """Its replicas and rules."""

    replicas: tuple[rules.Replica, ...]
    rules: rules.Rules
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The names that the service gives to replicas, by host."""

    @classmethod
    def of(cls, plan: JobPlan) -> "PlannedJob":
        """From the request in the plan."""
        kind = job_kind(plan.request)
        planned = replicas(kind, plan.request, job=plan.name)
        given = lifecycle_rules(kind, plan.request, region=plan.region)
        return cls(
            replicas=lifecycle_replicas(planned),
            rules=replace(given, grace=float(plan.stop.grace)),
            hosts={each.host: each.name for each in planned},
        )

    def host_of(self, replica: str) -> str:
        """The host of a replica."""
        return next(host for host, name in self.hosts.items() if name == replica)
