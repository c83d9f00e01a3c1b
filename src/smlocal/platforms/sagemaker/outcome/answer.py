"""The DescribeTrainingJob answer of a stored job."""

from typing import Any

from smlocal.job.documents import FINAL_METRICS, LOCAL, REQUEST, RULES
from smlocal.platforms.sagemaker.contract.outcome.describe import JobFacts, TransitionFacts, describe
from smlocal.store.records import StoredJob


def answer_of(stored: StoredJob) -> dict[str, Any]:
    """The members of the service."""
    record, local = stored.record, stored.documents.get(LOCAL, {})
    return describe(
        stored.documents[REQUEST],
        JobFacts(
            name=record.name,
            arn=record.arn,
            status=record.status,
            phase=record.phase,
            created=record.created,
            modified=record.modified,
            started=record.started,
            ended=record.ended,
            failure_reason=record.failure_reason,
            transitions=[
                TransitionFacts(status=each.status, started=each.started, ended=each.ended, message=each.message)
                for each in stored.transitions
            ],
            model_uri=record.model_uri,
            rules=stored.documents.get(RULES),
            final_metrics=local.get(FINAL_METRICS, ()) if record.status.terminal else (),
        ),
    )
