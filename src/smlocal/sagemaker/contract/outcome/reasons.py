"""The FailureReason that the service gives, and where the evaluation of each debugger rule stands."""

import codecs
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use

if TYPE_CHECKING:
    from hashlib import sha256
else:
    sha256 = at_use("hashlib", "sha256")

REASON_CHARACTERS = 1024
MESSAGE_BYTES = 1024
"""The part of the failure file that is used."""

INTERNAL_ERROR = "InternalServerError: We encountered an internal error. Please try again."
OUT_OF_MEMORY = (
    "ClientError: Please use an instance type with more memory, "
    "or reduce the size of job data processed on an instance."
)
CANNOT_PULL = (
    "ClientError: Cannot pull algorithm container. Either the image does not exist or its permissions are incorrect."
)

NO_CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
)


def algorithm_error(failure_file: bytes, exit_code: int) -> str:
    """The reason for a non-zero exit code. The length limit may cut off the exit code."""
    return f"AlgorithmError: {_message(failure_file)}, exit code: {exit_code}"[:REASON_CHARACTERS]


def client_error(message: str) -> str:
    """The reason for a failure of the customer's data, image or disk."""
    return f"ClientError: {message}"[:REASON_CHARACTERS]


def cannot_start(runtime_message: str) -> str:
    """The reason for a container whose first process cannot be started, with the runtime's message."""
    return client_error(f"Artifact upload failed:API error (400): {runtime_message}")


def _message(failure_file: bytes) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    # If the file is longer, a character that is cut at the end is dropped, not replaced.
    return decoder.decode(failure_file[:MESSAGE_BYTES], final=len(failure_file) <= MESSAGE_BYTES)


RULES = "rules"
"""The stored document of a job with the statuses of its rules."""
RULE = "rule"
"""The kind of the events in the history of a job, each with a new status of a rule."""
LONGEST_DETAILS = 1024
_LONGEST_NAME = 26
_SHOWN = ("RuleConfigurationName", "RuleEvaluationJobArn", "RuleEvaluationStatus", "StatusDetails", "LastModifiedTime")
"""The members of the service. Records may have more."""


class RuleStatus(StrEnum):
    """RuleEvaluationStatus."""

    IN_PROGRESS = "InProgress"
    NO_ISSUES_FOUND = "NoIssuesFound"
    ISSUES_FOUND = "IssuesFound"
    ERROR = "Error"
    STOPPING = "Stopping"
    STOPPED = "Stopped"

    @property
    def terminal(self) -> bool:
        """True if it does not change any more."""
        return self not in {RuleStatus.IN_PROGRESS, RuleStatus.STOPPING}


def first_statuses(request: Mapping[str, Any], *, arn: str, created: float) -> list[dict[str, Any]]:
    """Every rule is `InProgress` from the creation of its job."""
    return [
        rule_status(rule["RuleConfigurationName"], RuleStatus.IN_PROGRESS, arn=arn, created=created, at=created)
        for rule in request.get("DebugRuleConfigurations") or ()
    ]


def rule_status(
    name: str, status: RuleStatus, *, arn: str, created: float, at: float, details: str = ""
) -> dict[str, Any]:
    """One entry. `arn` is that of the training job, `at` the time of this status."""
    entry: dict[str, Any] = {
        "RuleConfigurationName": name,
        "RuleEvaluationJobArn": _evaluation_arn(arn, name, created),
        "RuleEvaluationStatus": status.value,
    }
    if details:
        short = len(details) <= LONGEST_DETAILS
        entry["StatusDetails"] = details if short else f"{details[: LONGEST_DETAILS - 1]}…"
    return {**entry, "LastModifiedTime": at}


def shown_statuses(
    stored: Sequence[Mapping[str, Any]] | None,
    request: Mapping[str, Any],
    *,
    arn: str,
    created: float,
    over: float | None,
) -> list[dict[str, Any]]:
    """As the service shows them. `stored`: None if no rule has begun. `over`: when the job ended, if it has."""
    if stored is None:
        stored = first_statuses(request, arn=arn, created=created)
    entries = [{key: entry[key] for key in _SHOWN if key in entry} for entry in stored]
    for entry in entries:
        if over is not None and not RuleStatus(entry["RuleEvaluationStatus"]).terminal:
            entry |= {"RuleEvaluationStatus": RuleStatus.STOPPED.value, "LastModifiedTime": over}
    return entries


def _evaluation_arn(arn: str, rule: str, created: float) -> str:
    """The ARN of the processing job that evaluates a rule on the service, with a name of the same pattern."""
    head, _, job = arn.rpartition(":training-job/")
    mark = sha256(f"{arn} {rule} {created}".encode()).hexdigest()[:8]
    return f"{head}:processing-job/{job[:_LONGEST_NAME]}-{rule.lower()[:_LONGEST_NAME]}-{mark}"
