"""Queues of AWS Batch for training jobs: service jobs, each of which passes its payload on to CreateTrainingJob.

A queue with any name is there. What waits, waits as every job of a client does, first come first served.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.endpoint.protocol.json_documents import decode
from smlocal.endpoint.sagemaker.jobs import TRAINING_JOBS
from smlocal.endpoint.sagemaker.operations import TRAINING
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.contract.identity import arn as arn_of
from smlocal.terms.statuses import JobPhase, JobStatus

_CHANGES: Final = threading.Lock()
"""Held while a job is submitted, retried or terminated: a terminated job must not begin another attempt."""
_KIND: Final = "service_job"
_QUEUE: Final = "job-queue/"
_REQUEST: Final = "Request"
_TRAINING_JOB: Final = "TrainingJobName"
_ATTEMPTS: Final = "Attempts"
"""How many there were, with the last one."""
_REFUSED: Final = "Refused"
"""Why CreateTrainingJob refused the payload."""
_TERMINATED: Final = "Terminated"
"""The reason that a client has given."""
_FROM: Final = "Received status from SageMaker: "
_PREFIX: Final = "AWSBatch"
_LONGEST_NAME: Final = 63
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_MOST_ATTEMPTS: Final = 10
_TIME: Final = re.compile(r"[0-9]{1,18}")
_MAX_RUNTIME: Final = 86_400
"""Of a payload that says nothing."""
_ON_A_PAGE: Final = 100
_RUNNING: Final = "RUNNING"
_STATUSES: Final[Mapping[JobPhase, str]] = {
    JobPhase.PENDING: "RUNNABLE",
    JobPhase.STARTING: "SCHEDULED",
    JobPhase.DOWNLOADING: "STARTING",
    JobPhase.TRAINING: _RUNNING,
    JobPhase.UPLOADING: _RUNNING,
    JobPhase.INTERRUPTED: _RUNNING,
    JobPhase.STOPPING: _RUNNING,
}
"""Of unfinished jobs. One that waits is, on the service, not a training job yet."""
_ECHOED: Final = (
    *("jobName", "retryStrategy", "schedulingPriority", "serviceRequestPayload", "serviceJobType", "shareIdentifier"),
    *("quotaShareName", "preemptionConfiguration", "tags", "timeoutConfig"),
)
_SUMMARY: Final = (
    *("latestAttempt", "createdAt", "jobArn", "jobId", "jobName", "serviceJobType", "shareIdentifier"),
    *("quotaShareName", "status", "statusReason", "startedAt", "stoppedAt", "isTerminated"),
)


def client_exception(message: str) -> ServiceError:
    """The service's answer to what a client has done wrong."""
    return ServiceError("ClientException", message)


def submit_service_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Make the training job of the payload. If it is refused, the service job has failed, as on the service."""
    _check(call.parameters)
    with _CHANGES:
        return _submitted(serving, call)


def _submitted(serving: Serving, call: AwsCall) -> dict[str, Any]:
    asked = call.parameters
    token = asked.get("clientToken")
    if token is not None and any(each.body[_REQUEST].get("clientToken") == token for each in _all(serving)):
        raise client_exception(f"A service job was submitted with the clientToken {token} already.")
    identity, now = str(uuid4()), round(time.time(), 3)
    arn = arn_of("batch", f"service-job/{identity}", region=call.region, account=serving.account)
    body = {_REQUEST: {**asked, "jobQueue": _queue(serving, call)}, _ATTEMPTS: 1}
    job = StoredResource(kind=_KIND, name=identity, arn=arn, created=now, modified=now, body=body)
    refused = _create(serving, call, job, 1)
    serving.store.add_resource(replace(job, body={**body, **refused}))
    _say_recorded(serving, asked)
    return {"jobArn": arn, "jobName": asked["jobName"], "jobId": identity}


def _create(serving: Serving, call: AwsCall, job: StoredResource, number: int) -> dict[str, str]:
    """Make the training job of an attempt; answers members for the service job if it is refused.

    It is made once: its name follows from the number.
    """
    name = _training_job(job, number)
    parameters = {**_payload(job.body[_REQUEST]), _TRAINING_JOB: name}
    try:
        TRAINING.create(serving, _to_sagemaker(call, "CreateTrainingJob", parameters))
    except ServiceError as error:
        if error.code != "ResourceInUse":
            return {_REFUSED: f"{error.code}: {error.message}"}
    return {}


def _training_job(job: StoredResource, number: int) -> str:
    """The name of the training job of an attempt."""
    asked, attempt = job.body[_REQUEST], uuid5(UUID(job.name), str(number)).hex
    called = str(_payload(asked).get(_TRAINING_JOB) or asked["jobName"]).replace("_", "-")
    return f"{_PREFIX}{called[: _LONGEST_NAME - len(_PREFIX) - len(attempt)]}{attempt}"


def _go_on(serving: Serving, call: AwsCall, job: StoredResource) -> StoredResource:
    """Begin the next attempt if the last one has failed and another is due. Answers the job as it is then."""
    if not _is_due(serving, job):
        return job
    with _CHANGES:
        job = serving.store.resource(_KIND, job.name) or job
        if not _is_due(serving, job):  # another call was first
            return job
        number = job.body[_ATTEMPTS] + 1
        _change(serving, job, {_ATTEMPTS: number, **_create(serving, call, job, number)})
    return serving.store.resource(_KIND, job.name) or job


def _is_due(serving: Serving, job: StoredResource) -> bool:
    """True if the last attempt has failed, and another follows."""
    strategy = job.body[_REQUEST].get("retryStrategy") or {}
    if job.body[_ATTEMPTS] >= strategy.get("attempts", 1) or job.body.get(_TERMINATED) is not None:
        return False
    record = _record(serving, job)
    return record is not None and record.status is JobStatus.FAILED and is_retried(strategy, _reason(record))


def is_retried(strategy: Mapping[str, Any], reason: str) -> bool:
    """True if a job that failed so is tried again: by the first condition that is met; if none is, it is."""
    for each in strategy.get("evaluateOnExit") or ():
        if _fits(reason, each.get("onStatusReason", "*")):
            return bool(each.get("action") != "EXIT")
    return True


def _fits(text: str, pattern: str) -> bool:
    """True if it is the pattern, whose asterisks stand for anything. The time does not grow with their number."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    if not text.startswith(first):
        return False
    at = len(first)
    for part in others[:-1]:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(others[-1]) and text.endswith(others[-1])


def _to_sagemaker(call: AwsCall, operation: str, parameters: dict[str, Any]) -> AwsCall:
    return AwsCall(
        service="sagemaker",
        operation=operation,
        parameters=parameters,
        region=call.region,
        access_key=call.access_key,
    )


def _payload(asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        payload = decode(asked["serviceRequestPayload"].encode())
    except ServiceError:
        payload = None
    if not isinstance(payload, dict):
        raise client_exception("serviceRequestPayload is not a JSON object.")
    return payload


def _check(asked: Mapping[str, Any]) -> None:
    if not _NAME.fullmatch(asked["jobName"]):
        raise client_exception("jobName must have 1 to 128 letters, digits, hyphens and underscores.")
    attempts = (asked.get("retryStrategy") or {}).get("attempts", 1)
    if not 1 <= attempts <= _MOST_ATTEMPTS:
        raise client_exception(f"retryStrategy.attempts must be between 1 and {_MOST_ATTEMPTS}.")
    payload = _payload(asked)
    name = payload.get(_TRAINING_JOB)
    if name is not None and not isinstance(name, str):
        raise client_exception(f"{_TRAINING_JOB} in serviceRequestPayload is not a string.")
    condition = payload.get("StoppingCondition")
    longest = condition.get("MaxRuntimeInSeconds") if isinstance(condition, dict) else None
    longest = longest if isinstance(longest, int) else _MAX_RUNTIME
    limit = (asked.get("timeoutConfig") or {}).get("attemptDurationSeconds")
    if limit is not None and limit < longest:
        raise client_exception(
            f"timeoutConfig.attemptDurationSeconds ({limit}) is below MaxRuntimeInSeconds ({longest}), and smlocal "
            "enforces only the latter: set it to the same."
        )


def _say_recorded(serving: Serving, asked: Mapping[str, Any]) -> None:
    """Tell the owner what has no effect here."""
    members = ("schedulingPriority", "shareIdentifier", "quotaShareName", "preemptionConfiguration")
    given = [member for member in members if member in asked]
    if given:
        serving.log(f"{', '.join(given)} of a service job: recorded, no effect; jobs start in the order of submission")


def describe_service_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Its request, and where it stands."""
    return _described(serving, _go_on(serving, call, _found(serving, call)))


def list_service_jobs(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The newest first. Without a filter and a status, only those that run."""
    asked = call.parameters
    if "jobQueue" not in asked:
        raise client_exception("jobQueue is needed.")
    queue, fits, status = _queue(serving, call), _filter(asked), asked.get("jobStatus", _RUNNING)
    by_any_status = bool(asked.get("filters")) and not ("jobStatus" in asked and _is_share(asked))
    found = []
    for each in sorted(_all(serving), key=lambda job: (-job.created, job.name)):
        if each.body[_REQUEST]["jobQueue"] != queue or not fits(each):
            continue
        try:
            described = _described(serving, _go_on(serving, call, each))
        except ServiceError:
            continue
        if by_any_status or described["status"] == status:
            found.append({name: described[name] for name in _SUMMARY if name in described})
    first, most = _offset(asked.get("nextToken")), asked.get("maxResults", _ON_A_PAGE)
    if not 1 <= most <= _ON_A_PAGE:
        raise client_exception(f"maxResults must be between 1 and {_ON_A_PAGE}.")
    last = first + most
    return {"jobSummaryList": found[first:last], **({"nextToken": token_of(last)} if last < len(found) else {})}


def _offset(token: str | None) -> int:
    if token is None:
        return 0
    try:
        (offset,) = key_of(token, int)
    except ValueError:
        raise client_exception("Invalid nextToken.") from None
    return max(0, int(offset))


def _is_share(asked: Mapping[str, Any]) -> bool:
    return any(each.get("name") in {"SHARE_IDENTIFIER", "QUOTA_SHARE_NAME"} for each in asked["filters"])


def _filter(asked: Mapping[str, Any]) -> Callable[[StoredResource], bool]:
    filters = asked.get("filters") or ()
    if not filters:
        return lambda _: True
    if len(filters) > 1:
        raise client_exception("Only one filter can be used at a time.")
    name, values = filters[0].get("name"), filters[0].get("values") or []
    share = {"SHARE_IDENTIFIER": "shareIdentifier", "QUOTA_SHARE_NAME": "quotaShareName"}.get(name, "")
    if name == "JOB_NAME":
        return lambda job: any(_matches(job.body[_REQUEST]["jobName"], each) for each in values)
    if share:
        return lambda job: job.body[_REQUEST].get(share) in values
    if name in {"BEFORE_CREATED_AT", "AFTER_CREATED_AT"} and len(values) == 1 and _TIME.fullmatch(values[0]):
        limit = int(values[0])
        if name == "BEFORE_CREATED_AT":
            return lambda job: _milliseconds(job.created) < limit
        return lambda job: _milliseconds(job.created) > limit
    raise client_exception(f"The filter {name} with the values {values} is not one of AWS Batch.")


def _matches(name: str, wanted: str) -> bool:
    name, wanted = name.lower(), wanted.lower()
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def terminate_service_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Stop its training job. One that has ended stays as it is."""
    with _CHANGES:
        return _terminated(serving, call, _found(serving, call))


def _terminated(serving: Serving, call: AwsCall, found: StoredResource) -> dict[str, Any]:
    record = _record(serving, found)
    if record is None or (record.status.terminal and not _is_due(serving, found)):
        return {}
    _change(serving, found, {_TERMINATED: call.parameters["reason"]})
    if record.status.terminal:
        return {}
    try:
        TRAINING_JOBS.stop(serving, _to_sagemaker(call, "StopTrainingJob", {_TRAINING_JOB: record.name}))
    except ServiceError:  # it has ended meanwhile, by itself
        _change(serving, found, {_TERMINATED: None})
    else:
        serving.waiting_jobs.look()
    return {}


def _described(serving: Serving, job: StoredResource) -> dict[str, Any]:
    """`ServiceError` if its training job was removed."""
    asked, terminated = job.body[_REQUEST], job.body.get(_TERMINATED)
    record, number = _record(serving, job), job.body[_ATTEMPTS]
    ended = [_attempt(each) for each in _records(serving, job, range(1, number)) if each is not None]
    answer = {
        **{name: asked[name] for name in _ECHOED if name in asked},
        "jobArn": job.arn,
        "jobId": job.name,
        "jobQueue": asked["jobQueue"],
        "createdAt": _milliseconds(job.created),
        "isTerminated": terminated is not None,
        "attempts": ended,
    }
    if ended:
        answer["latestAttempt"] = {"serviceResourceId": ended[-1]["serviceResourceId"]}
    if record is None:
        at, reason = _milliseconds(job.modified), f"{_FROM}{job.body[_REFUSED]}"
        return answer | {"status": "FAILED", "statusReason": reason, "startedAt": at, "stoppedAt": at}
    answer |= {"status": _status(record), "startedAt": 0 if record.started is None else _milliseconds(record.started)}
    if record.pending:
        return answer
    last = _attempt(record)
    answer["latestAttempt"] = {"serviceResourceId": last["serviceResourceId"]}
    if record.status.terminal:
        last["statusReason"] = reason = terminated if terminated is not None else _reason(record)
        answer |= {"stoppedAt": last["stoppedAt"], "statusReason": reason, "attempts": [*ended, last]}
    return answer


def _attempt(record: JobRecord) -> dict[str, Any]:
    # The guide's examples of Batch have the name in its own case, which ARNs of SageMaker have not.
    arn = f"{record.arn.rpartition('/')[0]}/{record.name}"
    return {
        "serviceResourceId": {"name": "TrainingJobArn", "value": arn},
        "startedAt": _milliseconds(record.started or record.created),
        "stoppedAt": _milliseconds(record.modified if record.ended is None else record.ended),
        "statusReason": _reason(record),
    }


def _status(record: JobRecord) -> str:
    if record.status.terminal:
        return "SUCCEEDED" if record.status is JobStatus.COMPLETED else "FAILED"
    return _STATUSES[record.phase]


def _reason(record: JobRecord) -> str:
    if record.status is JobStatus.FAILED:
        return f"{_FROM}{record.failure_reason or 'Training job failed'}"
    return f"{_FROM}Training job {record.status.lower()}"


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _all(serving: Serving) -> Iterator[StoredResource]:
    yield from serving.store.resources(_KIND)


def _found(serving: Serving, call: AwsCall) -> StoredResource:
    """By the id or, as the SDK names it, the ARN."""
    named = call.parameters["jobId"]
    job = serving.store.resource(_KIND, named.rpartition("/")[2])
    if job is None:
        raise _unknown(named)
    return job


def _unknown(named: str) -> ServiceError:
    return client_exception(f"There is no service job {named}.")


def _record(serving: Serving, job: StoredResource) -> JobRecord | None:
    """The training job of the last attempt; None if it was refused. `ServiceError` if it was removed."""
    if _REFUSED in job.body:
        return None
    (record,) = _records(serving, job, (job.body[_ATTEMPTS],))
    if record is None:
        raise _unknown(job.name)
    return record


def _records(serving: Serving, job: StoredResource, numbers: Iterable[int]) -> Iterator[JobRecord | None]:
    """The training jobs of attempts; None for those that were removed."""
    for number in numbers:
        try:
            yield serving.store.get(_training_job(job, number))
        except JobUnknownError:
            yield None


def _change(serving: Serving, job: StoredResource, members: Mapping[str, Any]) -> None:
    serving.store.change_resource(_KIND, job.name, lambda body: {**body, **members}, at=time.time())


def _queue(serving: Serving, call: AwsCall) -> str:
    """The ARN of the queue that the call names."""
    given: str = call.parameters["jobQueue"]
    if given.startswith("arn:"):
        return given
    return arn_of("batch", f"{_QUEUE}{given}", region=call.region, account=serving.account)


def update_service_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record its priority."""
    found, priority = _found(serving, call), call.parameters["schedulingPriority"]
    _change(serving, found, {_REQUEST: {**found.body[_REQUEST], "schedulingPriority": priority}})
    return {"jobArn": found.arn, "jobName": found.body[_REQUEST]["jobName"], "jobId": found.name}


HANDLERS: Mapping[str, Handler] = {
    "DescribeServiceJob": describe_service_job,
    "ListServiceJobs": list_service_jobs,
    "SubmitServiceJob": submit_service_job,
    "TerminateServiceJob": terminate_service_job,
    "UpdateServiceJob": update_service_job,
}
