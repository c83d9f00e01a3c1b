"""Operations on recorded training jobs: to describe, list, tag, stop and update them.

All they need is a store, so the endpoint of debugger rules has some of them too.
"""

from collections.abc import Sequence
from typing import Any, Final

from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.pages import page_of, take_jobs
from smlocal.errors import JobUnknownError
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.store.resources import WARM_POOL, change_period, state_of
from smlocal.sagemaker.contract.requested import pool_member
from smlocal.sagemaker.kinds import TRAINING
from smlocal.sagemaker.training.facts import NAME

TRAINING_JOBS: Final = NamedJobs(
    kind=TRAINING,
    in_use_text="Training job names must be unique within an AWS account and region, and a training job with this name "
    "already exists ({name})",
    unknown_text="Requested resource not found.",
)


def unknown_job() -> ServiceError:
    """The error that waiters of botocore expect."""
    return validation_error(TRAINING_JOBS.unknown_text)


_MOST_TAGS = 50


def add_tags(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """Answers all tags of the job."""
    new = {tag["Key"]: tag["Value"] for tag in call.parameters["Tags"]}
    return {"Tags": _change(serving, call, lambda tags: {**tags, **new})}


def delete_tags(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """Keys that the job does not have are not an error."""
    gone = set(call.parameters["TagKeys"])
    _change(serving, call, lambda tags: {key: value for key, value in tags.items() if key not in gone})
    return {}


def list_tags(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """All on one page: a job has at most fifty."""
    resource = serving.store.resource_of(call.parameters["ResourceArn"])
    if resource is not None:
        return {"Tags": tags_of(resource.body)}
    return {"Tags": tags_of(serving.store.document(_job(serving, call), REQUEST))}


def tags_of(request: Any) -> list[dict[str, str]]:
    """The tags of a recorded request."""
    return list(request.get("Tags") or [])


def _change(serving: HasStore, call: AwsCall, change: Any) -> list[dict[str, str]]:
    def changed(request: dict[str, Any]) -> dict[str, Any]:
        tags = change({tag["Key"]: tag["Value"] for tag in tags_of(request)})
        if len(tags) > _MOST_TAGS:
            raise validation_error(f"The number of tags exceeds the limit of {_MOST_TAGS} for a resource.")
        return {**request, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    resource = serving.store.resource_of(call.parameters["ResourceArn"])
    if resource is not None:
        found = serving.store.change_resource(resource.kind, resource.name, changed, at=resource.modified)
        return tags_of({} if found is None else found.body)
    return tags_of(serving.store.change_document(_job(serving, call), REQUEST, changed))


def _job(serving: HasStore, call: AwsCall) -> str:
    try:
        return serving.store.name_of(call.parameters["ResourceArn"])
    except JobUnknownError:
        raise unknown_job() from None


def list_training_jobs(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """One page of them."""
    asked = call.parameters
    jobs, token = take_jobs(serving, asked, platform=NAME)
    names = [each.name for each in jobs]
    pools, plans = _pools(serving, names), _training_plans(serving, names)
    pool, plan = asked.get("WarmPoolStatusEquals"), asked.get("TrainingPlanArnEquals")

    def summary(record: JobRecord) -> dict[str, Any]:
        more = {"WarmPoolStatus": pools.get(record.name), "TrainingPlanArn": plans.get(record.name)}
        return {**_summary(record), **{name: value for name, value in more.items() if value is not None}}

    def fits(record: JobRecord) -> bool:
        return pool in {None, pools.get(record.name, {}).get("Status")} and plan in {None, plans.get(record.name)}

    return page_of(
        (jobs, token),
        asked,
        member="TrainingJobSummaries",
        summary=summary,
        status=lambda record: record.status,
        fits=fits,
    )


def _training_plans(serving: HasStore, names: Sequence[str]) -> dict[str, str]:
    """`TrainingPlanArn` of these jobs, if they have it."""
    requests = serving.store.jobs_with(REQUEST, names)
    found = (
        (record.name, (request.get("ResourceConfig") or {}).get("TrainingPlanArn")) for record, request in requests
    )
    return {name: plan for name, plan in found if plan is not None}


def _pools(serving: HasStore, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`WarmPoolStatus` of these jobs, if they have it."""
    found = ((record.name, state_of(record, body)) for record, body in serving.store.jobs_with(WARM_POOL, names))
    return {name: pool_member(state) for name, state in found if state is not None}


def _summary(record: JobRecord) -> dict[str, Any]:
    summary = {
        "TrainingJobName": record.name,
        "TrainingJobArn": record.arn,
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
        "TrainingJobStatus": record.status,
        "SecondaryStatus": record.phase,
    }
    if record.status.terminal:
        summary["TrainingEndTime"] = record.modified if record.ended is None else record.ended
    return summary


_RECORDED = ("ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig")


def update_training_job(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """Record what the service would change, which reaches no running container, or change an available warm pool."""
    asked = call.parameters
    record = TRAINING_JOBS.called(serving, call)
    changes = {member: asked[member] for member in _RECORDED if member in asked}
    keep_alive = asked.get("ResourceConfig")
    ended = record.status.terminal and (bool(changes) or keep_alive is None)
    seconds = None if keep_alive is None else keep_alive["KeepAlivePeriodInSeconds"]
    if ended or (seconds is not None and not change_period(serving.store, record, seconds)):
        raise validation_error(f"The request was rejected because the training job is in status {record.status}.")

    def changed(request: dict[str, Any]) -> dict[str, Any]:
        resources = request.get("ResourceConfig")
        return {
            **request,
            **changes,
            **({"ResourceConfig": {**(resources or {}), **keep_alive}} if keep_alive is not None else {}),
        }

    serving.store.change_document(record.name, REQUEST, changed)
    return {"TrainingJobArn": record.arn}
