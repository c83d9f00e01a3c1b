"""The JSON Schema of a job's result: the output of `run --json`, `run --report` and `describe --json`."""

from collections.abc import Mapping
from typing import Any

from smlocal.terms.statuses import JobPhase, JobStatus

_Json = dict[str, Any]
_TEXT: _Json = {"type": "string"}
_WHOLE: _Json = {"type": "integer", "minimum": 0}
_NUMBER: _Json = {"type": "number"}
_SWITCH: _Json = {"type": "boolean"}
_TEXTS: _Json = {"type": "array", "items": _TEXT}
_NOT_OF_ANSWERS = ("Local", "Tags", "SessionChainingConfig")
"""Members of a job file that are not in the service's answer."""


def _or_null(schema: _Json) -> _Json:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(properties: _Json, *, required: tuple[str, ...] | None = None) -> _Json:
    """An object that may have other members, which later versions add."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*(properties if required is None else required)],
    }


def _list(item: _Json) -> _Json:
    return {"type": "array", "items": item}


_ALWAYS: _Json = {
    "TrainingJobName": _TEXT,
    "TrainingJobArn": _TEXT,
    "ModelArtifacts": _object({"S3ModelArtifacts": _TEXT}),
    "TrainingJobStatus": {"enum": [str(each) for each in JobStatus]},
    "SecondaryStatus": {"enum": [str(each) for each in JobPhase]},
    "CreationTime": _NUMBER,
    "LastModifiedTime": _NUMBER,
    "ProfilingStatus": {"enum": ["Enabled", "Disabled"]},
    "SecondaryStatusTransitions": _list(
        _object(
            {"Status": _TEXT, "StartTime": _NUMBER, "EndTime": _NUMBER, "StatusMessage": _TEXT},
            required=("Status", "StartTime", "StatusMessage"),
        )
    ),
}
_SOMETIMES: _Json = {
    "TuningJobArn": _TEXT,
    "FailureReason": _TEXT,
    "TrainingStartTime": _NUMBER,
    "TrainingEndTime": _NUMBER,
    "TrainingTimeInSeconds": _WHOLE,
    "BillableTimeInSeconds": _WHOLE,
    "FinalMetricDataList": _list(_object({"MetricName": _TEXT, "Value": _NUMBER, "Timestamp": _NUMBER})),
}
_HOST = _object(
    {
        "Name": _TEXT,
        "Container": _TEXT,
        "Engine": _TEXT,
        "ExitCode": _or_null({"type": "integer"}),
        "OomKilled": _SWITCH,
        "Signalled": _SWITCH,
        "Killed": _SWITCH,
        "Gpus": {"anyOf": [_TEXTS, {"const": "all"}, {"type": "null"}]},
        "Log": _or_null(_TEXT),
        "Staging": {"type": "object", "additionalProperties": _TEXT},
        "StagingFellBack": _or_null(_TEXT),
    }
)
_ARTIFACTS = _object(
    {
        "Directory": _TEXT,
        "Model": _or_null(_TEXT),
        "ModelBytes": _WHOLE,
        "Output": _or_null(_TEXT),
        "OutputBytes": _WHOLE,
        "Notes": _TEXTS,
        "Kept": _or_null(_TEXT),
        "NotSaved": {"type": "object", "additionalProperties": _TEXT},
    },
    required=("Directory", "Model", "ModelBytes", "Output", "OutputBytes", "Notes", "Kept"),
)
_SUMMARY = _object(
    {"MetricName": _TEXT, "Count": _WHOLE, "Minimum": _NUMBER, "Maximum": _NUMBER, "Course": _list(_NUMBER)}
)
_LOCAL: _Json = {
    "Version": {"const": 1},
    "SupervisorPid": _or_null(_WHOLE),
    "Directory": _TEXT,
    "Request": {"type": "object"},
    "Hosts": _list(_HOST),
    "Placement": {"type": "object", "additionalProperties": _TEXT},
    "FailedHost": _or_null(_TEXT),
    "Attempts": _WHOLE,
    "Interruptions": _WHOLE,
    "Retries": _WHOLE,
    "Artifacts": _ARTIFACTS,
    "Metrics": _object({"Summaries": _list(_SUMMARY), "WithoutValues": _TEXTS, "Notes": _TEXTS}),
    "Usage": _or_null({"type": "object"}),
    "Credentials": _object({"Mode": _TEXT, "Notes": _TEXTS}),
    "Seconds": {"type": "object", "additionalProperties": _NUMBER},
    "Notes": _list(_object({"Id": _TEXT, "Text": _TEXT, "Warning": _SWITCH})),
    "Image": _or_null(_TEXT),
    "ServeProgram": _TEXT,
    "AllowCpu": _SWITCH,
    "DataParallel": {"type": "object", "properties": {"Library": {"enum": ["stand-in", "image", None]}}},
    "Changes": {"type": "object", "additionalProperties": _TEXTS},
    "FailureFiles": {"type": "object", "additionalProperties": _TEXT},
    "Hints": _TEXTS,
    "Explanation": _or_null(_TEXT),
    "DockerCommand": _TEXT,
    "ContainersKept": _SWITCH,
    "Leftovers": _TEXTS,
}
"""As docs/result.md lists them."""
_OF_REPLICAS: _Json = {"ErrorExpected": _TEXT, "Lifecycle": {"type": "object"}}
"""Only jobs of replicas have these."""
_OF_EVERY_JOB = ("Version", "SupervisorPid", "Directory", "Request")


def result_schema(job_file: Mapping[str, Any]) -> _Json:
    """The service's answer and the `Local` block; `job_file` is the schema of the request that the answer repeats."""
    echoed = {name: member for name, member in job_file["properties"].items() if name not in _NOT_OF_ANSWERS}
    if channels := echoed.get("InputDataConfig"):  # an empty list without any
        echoed["InputDataConfig"] = {name: value for name, value in channels.items() if name != "minItems"}
    return {
        "$schema": job_file["$schema"],
        "title": "smlocal result",
        "description": "A DescribeTrainingJob response, with details known only on this machine under Local.",
        **_object(
            {**echoed, **_ALWAYS, **_SOMETIMES, "Local": _object(_LOCAL, required=_OF_EVERY_JOB)},
            required=(*_ALWAYS, "StoppingCondition", "Local"),
        ),
        "$defs": job_file["$defs"],
    }


def replica_result_schema(job_file: Mapping[str, Any], answer: Mapping[str, Any]) -> _Json:
    """The same for a job of replicas; `answer` has the properties of what its platform answers."""
    return {
        "$schema": job_file["$schema"],
        "title": "smlocal result",
        "description": f"{answer['description']}, with details known only on this machine under Local.",
        **_object(
            {**answer["properties"], "Local": _object({**_LOCAL, **_OF_REPLICAS}, required=_OF_EVERY_JOB)},
            required=(*answer["required"], "Local"),
        ),
        "$defs": job_file["$defs"],
    }
