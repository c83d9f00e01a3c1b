"""Endpoints: each is a hosting job, and an update is another one under the same name."""

import time
from collections.abc import Mapping
from typing import Any, Final

from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.model_documents import local_of, model_file
from smlocal.endpoint.sagemaker.models import models_of
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.resources import CONFIG, ResourceWords, found
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobNotFinishedError, JobUnknownError, NameInUseError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.control.requests import wake
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.submission.scheduler import record_waiting
from smlocal.sagemaker import kinds
from smlocal.sagemaker.serving.model_file import ModelFile
from smlocal.sagemaker.serving.named_endpoint import (
    ENDPOINT,
    UPDATING,
    Endpoint,
    all_endpoints,
    body_of,
    find_endpoint,
    free_job_name,
    record_endpoint,
    record_new,
    stop_job,
)
from smlocal.sagemaker.serving.named_endpoint import delete_endpoint as delete
from smlocal.sagemaker.serving.state import WEIGHTS

_KIND: Final = ResourceWords(name=ENDPOINT, spoken="endpoint", in_arn="endpoint")
_FAILED: Final = "Failed"


def create_endpoint(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record it, and answer. Its job is started by a process of its own."""
    asked = call.parameters
    name = asked["EndpointName"]
    own = {LOCAL: asked[LOCAL]} if LOCAL in asked else {}
    model = _model(serving, call, asked["EndpointConfigName"], Tags=asked.get("Tags"), **own)
    there = find_endpoint(serving.store, name) or _of_equal_arn(serving, name)
    if there is not None:
        raise _KIND.existing(there.arn)
    job, arn = _start(serving, model, name)
    more = {member: asked[member] for member in ("DeploymentConfig", "Tags", LOCAL) if member in asked}
    body = body_of(asked["EndpointConfigName"], job, **more)
    if not record_new(serving.store, name, arn=arn, created=time.time(), body=body):  # another call was first
        stop_job(serving.store, job)
        raise _KIND.existing(arn)
    serving.waiting_jobs.look()
    serving.submitted(job)
    return {"EndpointArn": arn}


def _of_equal_arn(serving: HasStore, name: str) -> Endpoint | None:
    """An endpoint whose name differs from this one only in case."""
    found = (each for each in all_endpoints(serving.store) if each.name != name)
    return next((each for each in found if each.name.lower() == name.lower()), None)


def describe_endpoint(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The answer about the job that serves, under the name of the endpoint."""
    return described(serving, called_endpoint(serving, call))


def described(serving: HasStore, endpoint: Endpoint) -> dict[str, Any]:
    """One endpoint as DescribeEndpoint shows it."""
    answer = describe_job(serving.store, endpoint.job.name, service=True)
    variants = [_changed(each, endpoint) for each in answer.pop("ProductionVariants", ())]
    answer.pop("FailureReason", None)
    update = endpoint.update
    pending = {}
    if update is not None and endpoint.status == UPDATING:
        pending = {
            "PendingDeploymentSummary": {
                "EndpointConfigName": update["EndpointConfigName"],
                "StartTime": update["StartTime"],
            }
        }
    return {
        **answer,
        "EndpointName": endpoint.name,
        "EndpointArn": endpoint.arn,
        "EndpointConfigName": endpoint.config,
        **({"ProductionVariants": variants} if variants else {}),
        "EndpointStatus": endpoint.status,
        **({"FailureReason": endpoint.failure_reason} if endpoint.failure_reason else {}),
        "CreationTime": endpoint.created,
        "LastModifiedTime": endpoint.modified,
        **pending,
    }


def _changed(variant: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    changes = endpoint.variants.get(variant["VariantName"], {})
    weight = changes.get("DesiredWeight", variant["CurrentWeight"])
    count = changes.get("DesiredInstanceCount", variant["CurrentInstanceCount"])
    return {
        **variant,
        "CurrentWeight": weight,
        "DesiredWeight": weight,
        "CurrentInstanceCount": count,
        "DesiredInstanceCount": count,
    }


def list_endpoints(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """Those that clients made, and those that were deployed by hand."""
    asked = call.parameters
    taken = take(all_endpoints(serving.store), asked, others={"Status": lambda endpoint: endpoint.status})
    return page_of(taken, asked, member="Endpoints", summary=_summary, status=lambda endpoint: endpoint.status)


def _summary(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "EndpointName": endpoint.name,
        "EndpointArn": endpoint.arn,
        "CreationTime": endpoint.created,
        "LastModifiedTime": endpoint.modified,
        "EndpointStatus": endpoint.status,
    }


def update_endpoint(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Begin the job that is to follow. The one before answers until then, and goes on if this one fails."""
    asked = call.parameters
    endpoint = _to_change(serving, call)
    config = asked["EndpointConfigName"]
    resource = serving.store.resource(ENDPOINT, endpoint.name)
    local = local_of({} if resource is None else resource.body, asked)
    more = {} if local is None else {LOCAL: local}
    model = _model(serving, call, config, called=endpoint.name, **more)
    kept: dict[str, Any] = {}
    if asked.get("RetainAllVariantProperties"):
        kept = _kept(endpoint, model, asked.get("ExcludeRetainedVariantProperties", ()))
    record_endpoint(serving.store, endpoint)
    job, _ = _start(serving, model, endpoint.name)
    if kept:
        _store_weights(serving, job, kept)
    update = {"Job": job, "EndpointConfigName": config, "StartTime": round(time.time(), 3), "Variants": kept}
    if "DeploymentConfig" in asked:
        more["DeploymentConfig"] = asked["DeploymentConfig"]

    def updating(body: dict[str, Any]) -> dict[str, Any]:
        return body if body["Update"] else {**body, **more, "Update": update, "FailureReason": None}

    changed = serving.store.change_resource(ENDPOINT, endpoint.name, updating, at=time.time())
    if changed is None or changed.body["Update"] != update:  # another call was first
        stop_job(serving.store, job)
        raise _in_progress(endpoint)
    serving.waiting_jobs.look()
    serving.submitted(job)
    return {"EndpointArn": endpoint.arn}


def _kept(endpoint: Endpoint, model: ModelFile, excluded: Any) -> dict[str, Any]:
    """The changed properties of variants that the new configuration has too."""
    without = {each["VariantPropertyType"] for each in excluded}
    names = {each.get("VariantName") for each in model.raw.get("ProductionVariants", ())}
    return {
        name: {member: value for member, value in changes.items() if member not in without}
        for name, changes in endpoint.variants.items()
        if name in names
    }


def update_endpoint_weights_and_capacities(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Weights count at once. The number of instances is recorded."""
    endpoint = _to_change(serving, call)
    answer = describe_job(serving.store, endpoint.job.name, service=True)
    there = [each["VariantName"] for each in answer.get("ProductionVariants", ())]
    wanted = call.parameters["DesiredWeightsAndCapacities"]
    missing = [each["VariantName"] for each in wanted if each["VariantName"] not in there]
    if missing:
        raise validation_error(
            f'The variant name(s) "{", ".join(missing)}" is/are not present within endpoint configuration '
            f'"{endpoint.config}".'
        )
    variants = {name: dict(changes) for name, changes in endpoint.variants.items()}
    for each in wanted:
        if "ServerlessUpdateConfig" in each:
            raise validation_error("smlocal does not run serverless inference: ServerlessUpdateConfig is refused.")
        members = ("DesiredWeight", "DesiredInstanceCount")
        variants.setdefault(each["VariantName"], {}).update({key: each[key] for key in members if key in each})
    record_endpoint(serving.store, endpoint)
    serving.store.change_resource(
        ENDPOINT,
        endpoint.name,
        lambda body: {**body, "Variants": variants, "FailureReason": None},
        at=time.time(),
    )
    _store_weights(serving, endpoint.job.name, variants)
    return {"EndpointArn": endpoint.arn}


def _store_weights(serving: Serving, job: str, variants: Mapping[str, Mapping[str, Any]]) -> None:
    weights = {name: each["DesiredWeight"] for name, each in variants.items() if "DesiredWeight" in each}
    serving.store.put_document(job, WEIGHTS, weights)
    wake(serving.store, job)


def delete_endpoint(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Stop it. It is gone as soon as its containers have ended."""
    endpoint = called_endpoint(serving, call)
    if endpoint.in_progress:
        raise _in_progress(endpoint)
    delete(serving.store, endpoint)
    serving.waiting_jobs.look()
    return {}


def called_endpoint(serving: HasStore, call: AwsCall) -> Endpoint:
    """The endpoint that the call names, or the error that waiters of botocore expect."""
    name = call.parameters["EndpointName"]
    endpoint = find_endpoint(serving.store, name)
    if endpoint is None:
        raise _KIND.unknown(name, region=call.region)
    return endpoint


def _to_change(serving: HasStore, call: AwsCall) -> Endpoint:
    endpoint = called_endpoint(serving, call)
    if endpoint.in_progress:
        raise _in_progress(endpoint)
    if endpoint.status == _FAILED:
        raise validation_error(f'Cannot update failed endpoint "{endpoint.arn}".')
    return endpoint


def _in_progress(endpoint: Endpoint) -> ServiceError:
    return validation_error(f'Cannot update in-progress endpoint "{endpoint.arn}".')


def _model(serving: Serving, call: AwsCall, config: str, *, called: str | None = None, **more: Any) -> ModelFile:
    """The document of a configuration with its models."""
    stored = found(serving, CONFIG, config, region=call.region).body
    models = models_of(serving, stored, region=call.region)
    name = called or call.parameters["EndpointName"]
    return model_file(serving, call.region, [each.body for each in models], stored, EndpointName=name, **more)


def _start(serving: Serving, model: ModelFile, endpoint: str) -> tuple[str, str]:
    """Record a job for the endpoint; returns its name and the ARN of the endpoint."""
    while True:
        job, ended = free_job_name(serving.store, endpoint)
        try:
            if ended:
                serving.store.remove(job)
            return job, record_waiting(kinds.ENDPOINT.waiting_job(model, job), name=job, store=serving.store).arn
        except (NameInUseError, JobUnknownError, JobNotFinishedError):  # another call was first
            there = find_endpoint(serving.store, endpoint)
            if there is not None and there.update is None and there.in_progress:
                raise _KIND.existing(there.arn) from None
