"""The kinds of documents that are stored with a job, and members of them that several modules read."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from smlocal.terms.statuses import Ending, JobPhase, JobStatus, PhaseMessage

if TYPE_CHECKING:
    from smlocal.data.artifacts.s3_publish import PublishResult

REQUEST = "request"
PLAN = "plan"
"""Not there until the job has been prepared, as RECALL."""
RECALL = "recall"
"""The plan, in a form that a later supervisor can read."""
JOB = "job"
"""The job file with its flags, for planning again."""
STRICT = "Strict"
"""In the recorded job file of a submitted job: whether it must be as the platform requires."""
LOCAL = "local"
RULES = "rules"
"""The known facts about the rules that are evaluated beside the job."""
REPORT_FILES = "report-files"
"""Paths of files that the user wants, for another process that may have to finish the job."""
TUNED_BY = "tuned-by"
"""With a training job: the tuning job that has made it."""
STEP_OF: Final = "step-of"
"""With a job that a step of a pipeline has made: the execution and the step."""
LED_BY: Final = (TUNED_BY, STEP_OF)
"""The documents that name the job that has made a job: `Name`, `Run` and `Arn`."""
QUEUE = "tuning-queue"
"""With a job that leads others: the limit of instances of the server that has made it."""
NOT_ADOPTED = "not-adopted"
"""Why a new supervisor could not take over a job, and when it tried."""
DECISION = "Decision"
"""In the local block: how the job ends once everything is cleaned up."""
FINAL_METRICS = "FinalMetrics"
"""In the local block, but shown where the platform shows it."""
REPLACED = "replaced"
"""The document with them: paths by kind, as in `Local.Artifacts`."""
SERVE_PROGRAM = "ServeProgram"
"""In the local block: the image's program `serve`, if any."""
NOT_SAVED = "NotSaved"
"""In the local block, below `Artifacts`: where unsaved mirrored folders are kept, by path."""
NO_METRICS: Final[Mapping[str, list[Any]]] = {"Summaries": [], "WithoutValues": [], "Notes": []}
"""In the local block of a job without metrics."""
UNSENT = "Unsent"
"""In the local block, below `Artifacts`: the mirrored folders that could not be sent to S3."""


def ended_block(*, explanation: str | None = None, hints: Iterable[str] = ()) -> dict[str, Any]:
    """The `Local` block, with the members that every ended job has, as they are if no container has run."""
    return {
        "Hosts": [],
        "FailedHost": None,
        "Attempts": 0,
        "Interruptions": 0,
        "Retries": 0,
        "Artifacts": {
            "Directory": None,
            "Model": None,
            "ModelBytes": 0,
            "Output": None,
            "OutputBytes": 0,
            "Notes": [],
            "Kept": None,
        },
        FINAL_METRICS: [],
        "Metrics": NO_METRICS,
        "Usage": None,
        "Seconds": {},
        "Notes": [],
        "Image": None,
        "AllowCpu": False,
        "Hints": list(dict.fromkeys(hints)),
        "Explanation": explanation,
        "Leftovers": [],
    }


def decision_document(ended: Ending, reason: str | None) -> dict[str, Any]:
    """How the job ends, for the next supervisor."""
    return {"Status": ended.status, "Secondary": ended.phase, "Message": ended.message, "Reason": reason}


def decided_ending(decision: Mapping[str, Any]) -> Ending:
    """The same, read again."""
    return Ending(
        status=JobStatus(decision["Status"]),
        phase=JobPhase(decision["Secondary"]),
        message=PhaseMessage(decision["Message"]),
    )


def published_document(published: "PublishResult") -> dict[str, Any]:
    """The members of `Artifacts` on an upload."""
    return {
        "Published": [{"S3Uri": each.uri, "Bytes": each.bytes} for each in published.objects],
        "PublishFailure": published.failure or ("it was interrupted" if published.cancelled else None),
    }


def unsent_document(unsent: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Its member on folders that could not be sent."""
    return [{"S3Uri": uri, "Directory": directory} for uri, directory in unsent]
