"""The describe answer of a job, with the `Local` block of what is only known on this machine."""

from typing import Any

from smlocal.contract.outcome.describe import JobFacts, TransitionFacts, describe, request_only
from smlocal.contract.outcome.rule_statuses import RULES
from smlocal.job.finish.kept import is_kept
from smlocal.store.jobs import Store

REQUEST = "request"
PLAN = "plan"
"""Not there until the job has been prepared, as RECALL."""
RECALL = "recall"
"""The plan, in a form that a later supervisor can read."""
JOB = "job"
"""The job file with its flags, for planning again."""
STRICT = "Strict"
"""In the recorded job file of a submitted job: whether it must be as the service requires."""
LOCAL = "local"
REPORT_FILES = "report-files"
"""Paths of files that the user wants, for another process that may have to finish the job."""
NOT_ADOPTED = "not-adopted"
"""Why a new supervisor could not take over a job, and when it tried."""
DECISION = "Decision"
"""In the local block: how the job ends once everything is cleaned up."""
FINAL_METRICS = "FinalMetricDataList"
"""In the local block, but shown where the service shows it."""


def describe_job(store: Store, name: str, *, service: bool = False) -> dict[str, Any]:
    """The answer of `smlocal describe NAME`; with `service`, only the members of the service."""
    stored = store.read(name, (REQUEST, LOCAL, RULES))
    record, request, local = stored.record, stored.documents[REQUEST], stored.documents.get(LOCAL, {})
    answer = describe(
        request,
        JobFacts(
            name=name,
            arn=record.arn,
            status=record.status,
            secondary=record.secondary_status,
            created=record.created,
            modified=record.modified,
            started=record.started,
            ended=record.ended,
            failure_reason=record.failure_reason,
            transitions=[
                TransitionFacts(status=t.status, started=t.started, ended=t.ended, message=t.message)
                for t in stored.transitions
            ],
            model_uri=record.model_uri,
            rules=stored.documents.get(RULES),
            final_metrics=local.get(FINAL_METRICS, ()) if record.status.terminal else (),
        ),
    )
    if not service:
        answer["Local"] = {
            "Version": 1,
            "SupervisorPid": record.supervisor_pid,
            "Directory": store.directory(name),
            "Request": request_only(request),
            **({"ContainersKept": True} if is_kept(store.directory(name)) else {}),
            **{key: value for key, value in local.items() if key not in {DECISION, FINAL_METRICS}},
        }
    return answer
