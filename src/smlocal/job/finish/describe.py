"""The describe answer of a remembered job, with what is only known here in its `Local` block."""

from typing import TYPE_CHECKING, Any

from smlocal.contract.outcome.describe import JobFacts, TransitionFacts, describe, request_only
from smlocal.store.jobs import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUEST = "request"
PLAN = "plan"
RECALL = "recall"
"""The plan in the form that a later supervisor can use."""
JOB = "job"
"""The job file with its flags, for planning anew."""
LOCAL = "local"
NOT_ADOPTED = "not-adopted"
"""Why a job could not be taken up by a new supervisor, and when that was tried."""
DECISION = "Decision"
"""Of the local block: how the job will have ended once everything is cleaned up."""
FINAL_METRICS = "FinalMetricDataList"
"""Of the local block, but shown where the service shows it."""


def describe_job(store: Store, name: str, *, service: bool = False) -> dict[str, Any]:
    """What `smlocal describe NAME` says; with `service`, only what the service would say."""
    record = store.get(name)
    request: Mapping[str, Any] = store.document(name, REQUEST)
    plan: Mapping[str, Any] = store.document(name, PLAN)
    local: Mapping[str, Any] = store.document(name, LOCAL) or {}
    answer = describe(
        request,
        JobFacts(
            name=name,
            arn=plan["TrainingJobArn"],
            status=record.status,
            secondary=record.secondary_status,
            created=record.created,
            modified=record.modified,
            started=record.started,
            ended=record.ended,
            failure_reason=record.failure_reason,
            transitions=[
                TransitionFacts(status=t.status, started=t.started, ended=t.ended, message=t.message)
                for t in store.transitions(name)
            ],
            model_uri=plan["Output"]["S3ModelArtifacts"],
            final_metrics=local.get(FINAL_METRICS, ()) if record.status.terminal else (),
        ),
    )
    if not service:
        answer["Local"] = {
            "Version": 1,
            "SupervisorPid": record.supervisor_pid,
            "Directory": store.directory(name),
            "Request": request_only(request),
            **{key: value for key, value in local.items() if key not in {DECISION, FINAL_METRICS}},
        }
    return answer
