"""The JSON Schema of a job's result: the output of `run --json`, `run --report` and `describe --json`."""

from collections.abc import Mapping
from typing import Any, Final

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
"""The members of the block `Local`."""
_SAID: Final[Mapping[str, str]] = {
    "Version": "Version of this block: 1.",
    "SupervisorPid": "The process that supervises or supervised the job.",
    "Directory": "The job's folder: logs.",
    "Request": "Members of the request that have no place in the service's answer (Tags, SessionChainingConfig).",
    "Hosts": "Per host: Name, Container, Engine (address), ExitCode (null if it did not run or its engine was "
    "lost), OomKilled, Signalled (smlocal sent it a signal), Killed (SIGTERM was not enough), Gpus (ids, "
    "null, or all if the number is unknown), Log, Staging (per mounted channel: overlay, reflink, copy, "
    "or sent to an engine that does not see the folders of this machine), StagingFellBack (why overlays "
    "were replaced by copies).",
    "Placement": "With several engines: the address of each host's engine, or the name of that of Local.SpreadOver.",
    "FailedHost": "The host whose exit code is in the FailureReason, or null.",
    "Attempts": "How often the job was started.",
    "Interruptions": "How often an interruption started it again.",
    "Retries": "How often a retry started it again.",
    "Artifacts": "Directory, Model, ModelBytes, Output, OutputBytes, Kept (the folder of files that could not be "
    "packed, or null), Notes (files left out, the host whose file was kept).",
    "Metrics": "Summaries: MetricName, Count, Minimum, Maximum and Course (up to 64 means of equally many values) "
    "for each metric with values. WithoutValues: names of the others. Notes: slow regexes, missing "
    "values.",
    "Usage": "Hosts: per host, over all attempts, Name, InstanceType, Seconds (measured), MemoryPeakMiB, "
    "MemoryLimitMiB (of Local.Memory), MemoryWithCachePeakMiB, CpuPeak and CpuMean (cores), "
    "DiskReadBytes, DiskWrittenBytes, DiskHeldBytes (by folder), NetworkReceivedBytes, "
    "NetworkSentBytes, GpuPeakPercent, GpuMeanPercent, GpuMemoryPeakMiB, Points and Series (the file "
    "with the curve). Advice: per instance type, InstanceType, Hosts, Verdict, Fits and Sentences. "
    "Notes: what could not be measured, and why. Null for a job that was not measured, as is each value "
    "that was not.",
    "Credentials": "If the containers got credentials: Mode, and Notes with failed renewals.",
    "Seconds": "Seconds of each phase until the next one. After a crash, training ends with the last container, and "
    "time without a supervisor after that counts as Uploading.",
    "Notes": "This job's differences from the service: Id, Text, Warning.",
    "Image": "Id of the image that ran.",
    "ServeProgram": "The path of serve, if it is on the image's PATH. After a job with a model, smlocal deploy is then "
    "advised.",
    "AllowCpu": "True if a type with GPUs ran without one.",
    "DataParallel": "With the stand-in for the data parallel library: the library used, the number of ranks, and the "
    "counts of balanced buffers.",
    "Changes": "With Local.ListChanges, for each host: up to 1000 files that its container wrote outside /opt/ml, "
    "/tmp and mounts.",
    "FailureFiles": "For a completed job: the beginning of each host's failure file, which the service ignores.",
    "Hints": "Likely causes of a failure.",
    "Explanation": "The cause behind a general reason such as an internal error, or the object of a FastFile channel "
    "that could not be read.",
    "DockerCommand": "For a job that failed during or after training: the command that starts it by hand.",
    "ContainersKept": "True while the containers and folders kept by --keep exist.",
    "Leftovers": "Leftovers that could not be removed when the job ended. Those on an engine that did not answer are "
    "removed later, and stay in this list.",
}
"""The meaning of each member of `Local`. The site shows it too."""
_OF_REPLICAS: _Json = {"ErrorExpected": _TEXT, "Lifecycle": {"type": "object"}}
"""Only jobs of replicas have these."""
_OF_EVERY_JOB = ("Version", "SupervisorPid", "Directory", "Request")
_LOCAL_SAID: _Json = {name: {"description": _SAID[name], **schema} for name, schema in _LOCAL.items()}


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
            {**echoed, **_ALWAYS, **_SOMETIMES, "Local": _object(_LOCAL_SAID, required=_OF_EVERY_JOB)},
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
            {**answer["properties"], "Local": _object({**_LOCAL_SAID, **_OF_REPLICAS}, required=_OF_EVERY_JOB)},
            required=(*answer["required"], "Local"),
        ),
        "$defs": job_file["$defs"],
    }
