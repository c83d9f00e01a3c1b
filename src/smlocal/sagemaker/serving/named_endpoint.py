"""Endpoints for clients of the service: a name, a configuration, and the job that serves it.

An update is another job under the same name. When it is in service it answers, and the old job is stopped.
Readers first make due changes, so no process has to run for them.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.state import status_word
from smlocal.terms.statuses import JobStatus

ENDPOINT: Final = "endpoint"
"""The kind of resource."""
DELETED: Final = "endpoint_deleted"
"""A document of a job that has failed and whose endpoint was deleted."""
IN_SERVICE, CREATING, UPDATING, DELETING = "InService", "Creating", "Updating", "Deleting"
_NAME_LENGTH: Final = 63


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """One of them, as it is now."""

    name: str
    arn: str
    config: str
    status: str
    """EndpointStatus."""
    failure_reason: str | None
    created: float
    modified: float
    job: JobRecord
    """The one that answers, or will."""
    update: Mapping[str, Any] | None
    """The job and the configuration that are to follow, and since when."""
    variants: Mapping[str, Mapping[str, Any]]
    """Weights and numbers of instances that were changed, by variant."""

    @property
    def in_progress(self) -> bool:
        """True if the service would change nothing about it now."""
        return self.status in {CREATING, UPDATING, DELETING}


def find_endpoint(store: Store, name: str) -> Endpoint | None:
    """One endpoint; None if there is none of this name, or it has been deleted."""
    resource = store.resource(ENDPOINT, name)
    if resource is None:
        return _of_job(store, _record(store, name))
    return _of_resource(store, resource)


def all_endpoints(store: Store) -> list[Endpoint]:
    """Those that clients made, and those that were deployed by hand."""
    found = [_of_resource(store, each) for each in store.resources(ENDPOINT)]
    named = {each.name for each in found if each is not None}
    jobs = (record for record in store.list() if record.platform == facts.NAME and record.name not in named)
    return [each for each in (*found, *(_of_job(store, record) for record in jobs)) if each is not None]


def settle(store: Store, name: str, *, job: str) -> None:
    """Carry out what has come about: a job that came into service replaces the one before.

    The process that began the job may have been killed before it could write whose it is.
    """
    resource = store.resource(ENDPOINT, name)
    request = store.document(job, REQUEST) or {}
    config = request.get("EndpointConfigName", name)
    if resource is None:
        if job != name:
            record, body = store.get(job), body_of(config, job, **_tags(request))
            record_new(store, name, arn=record.arn, created=record.created, body=body)
        return

    def with_job(body: dict[str, Any]) -> dict[str, Any]:
        update = body["Update"]
        if body.get("Deleting") or update is not None or job in {body["Job"], *body["Former"]}:
            return body
        return {**body, "Update": {"Job": job, "EndpointConfigName": config, "StartTime": time.time()}}

    resource = store.change_resource(ENDPOINT, name, with_job, at=time.time())
    if resource is not None:
        _of_resource(store, resource)


def is_settled(store: Store, name: str) -> bool:
    """True unless something is in progress that a client may wait for."""
    endpoint = find_endpoint(store, name)
    return endpoint is None or not endpoint.in_progress


def body_of(config: str, job: str, **more: Any) -> dict[str, Any]:
    """What is stored of a new endpoint."""
    return {"EndpointConfigName": config, "Job": job, "Update": None, "FailureReason": None, "Former": [], **more}


def _tags(request: Mapping[str, Any]) -> dict[str, Any]:
    """The tags of the job's request, which move to the resource."""
    return {"Tags": request["Tags"]} if request.get("Tags") else {}


def record_new(store: Store, name: str, *, arn: str, created: float, body: Mapping[str, Any]) -> bool:
    """Have a resource of an endpoint; False if there is one."""
    created = round(created, 3)
    return store.add_resource(
        StoredResource(kind=ENDPOINT, name=name, arn=arn, created=created, modified=created, body=body)
    )


def record_endpoint(store: Store, endpoint: Endpoint) -> None:
    """Record the resource of an endpoint deployed by hand, before a change."""
    tags = _tags(store.document(endpoint.job.name, REQUEST) or {})
    body = body_of(endpoint.config, endpoint.job.name, **tags)
    record_new(store, endpoint.name, arn=endpoint.arn, created=endpoint.created, body=body)


def delete_endpoint(store: Store, endpoint: Endpoint) -> None:
    """Stop its jobs. It is gone when they have ended."""
    record_endpoint(store, endpoint)
    store.change_resource(ENDPOINT, endpoint.name, lambda body: {**body, "Deleting": True}, at=time.time())
    find_endpoint(store, endpoint.name)


def free_job_name(store: Store, endpoint: str) -> tuple[str, bool]:
    """The name of the endpoint's next job, and whether an ended one has it, which is to be removed."""
    number = 1
    while True:
        ending = "" if number == 1 else f"-{number}"
        name = f"{endpoint[: _NAME_LENGTH - len(ending)].rstrip('-')}{ending}"
        record = _record(store, name)
        if record is None:
            return name, False
        if record.platform == facts.NAME and record.status.terminal and endpoint_of(store, name) == endpoint:
            kept = store.resource(ENDPOINT, endpoint)
            if kept is None or kept.body["Job"] != name:
                return name, True
        number += 1


def endpoint_of(store: Store, job: str) -> str:
    """The name under which a job answers."""
    request = store.document(job, REQUEST) or {}
    return str(request.get("EndpointName", job))


def _record(store: Store, name: str) -> JobRecord | None:
    try:
        return store.get(name)
    except JobUnknownError:
        return None


def _of_job(store: Store, record: JobRecord | None) -> Endpoint | None:
    """An endpoint that was deployed by hand."""
    if record is None or record.platform != facts.NAME or record.status in {JobStatus.STOPPED, JobStatus.COMPLETED}:
        return None
    try:
        documents = store.read(record.name, (REQUEST, DELETED)).documents
    except JobUnknownError:  # it was removed meanwhile
        return None
    request = documents.get(REQUEST) or {}
    if request.get("EndpointName", record.name) != record.name:
        return None
    if record.status.terminal and documents.get(DELETED) is not None:
        return None
    return Endpoint(
        name=record.name,
        arn=record.arn,
        config=request.get("EndpointConfigName", record.name),
        status=status_word(record),
        failure_reason=record.failure_reason,
        created=record.created,
        modified=record.modified,
        job=record,
        update=None,
        variants={},
    )


def _of_resource(store: Store, resource: StoredResource) -> Endpoint | None:
    settled = _with_update(store, resource)
    if settled is None:
        return None
    body = settled.body
    _stop_former(store, settled)
    record = _record(store, body["Job"])
    if record is None or record.status in {JobStatus.STOPPED, JobStatus.COMPLETED}:
        _forget(store, settled)
        return None
    if body.get("Deleting") and record.status.terminal:
        store.put_document(record.name, DELETED, {"At": time.time()})
        _forget(store, settled)
        return None
    status = status_word(record)
    if body.get("Deleting"):
        status = DELETING
        if record.status is not JobStatus.STOPPING:
            stop_job(store, record.name)
    elif body["Update"] is not None and status == IN_SERVICE:
        status = UPDATING
    return Endpoint(
        name=settled.name,
        arn=settled.arn,
        config=body["EndpointConfigName"],
        status=status,
        failure_reason=record.failure_reason or body["FailureReason"],
        created=settled.created,
        modified=max(settled.modified, record.modified),
        job=record,
        update=body["Update"],
        variants=body.get("Variants", {}),
    )


def _with_update(store: Store, resource: StoredResource) -> StoredResource | None:
    """The resource after its update, if that has ended."""
    update = resource.body["Update"]
    if update is None:
        return resource
    new = _record(store, update["Job"])
    if new is not None and not new.status.terminal and status_word(new) != IN_SERVICE:
        return resource

    def ended(body: dict[str, Any]) -> dict[str, Any]:
        if body["Update"] != update:  # another process was first
            return body
        if new is None or new.status.terminal:
            why = "the update was stopped" if new is None else new.failure_reason or "the update was stopped"
            return {**body, "Update": None, "FailureReason": why}
        former = [*body["Former"], body["Job"]]
        config = update["EndpointConfigName"]
        return {
            **body,
            "Update": None,
            "FailureReason": None,
            "Job": new.name,
            "EndpointConfigName": config,
            "Former": former,
            "Variants": update.get("Variants", {}),
        }

    return store.change_resource(ENDPOINT, resource.name, ended, at=time.time())


def _stop_former(store: Store, resource: StoredResource) -> None:
    """Stop the jobs that were replaced, and forget those that have ended."""
    former = list(resource.body["Former"])
    left = []
    for name in former:
        record = _record(store, name)
        if record is None or record.status.terminal:
            continue
        left.append(name)
        if record.status is not JobStatus.STOPPING:
            stop_job(store, name)
    if left != former:
        ended = set(former) - set(left)

        def without(body: dict[str, Any]) -> dict[str, Any]:
            return {**body, "Former": [each for each in body["Former"] if each not in ended]}

        store.change_resource(ENDPOINT, resource.name, without, at=resource.modified)


def _forget(store: Store, resource: StoredResource) -> None:
    """It is gone, if it still is about the same job."""
    job = resource.body["Job"]
    update = resource.body["Update"]
    if update is not None:
        stop_job(store, update["Job"])
    store.change_resource(ENDPOINT, resource.name, lambda body: None if body["Job"] == job else body, at=time.time())


def stop_job(store: Store, name: str) -> None:
    """Stop a job of an endpoint, unless it has ended."""
    with suppress(JobFinishedError, JobUnknownError):
        if not ask_to_stop(store, name, grace=None):
            ensure_supervised(store, name)
