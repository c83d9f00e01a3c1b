"""Endpoints in answers and on screens: `jobs.kinds.Showing`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.base.readable import local_time
from smlocal.jobs.contract.metric_values import MetricDefinition
from smlocal.jobs.contract.statuses import JobPhase, JobStatus, StopCause
from smlocal.jobs.kinds import Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, Stage, StartView
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.state import HOSTING, shown

DOCUMENTS: Final[tuple[str, ...]] = (HOSTING,)
"""Where it is invoked."""
_PHASES: Final = {JobPhase.STARTING: "Creating", JobPhase.DOWNLOADING: "Creating", JobPhase.TRAINING: "InService"}


def status_word(record: JobRecord) -> str:
    """EndpointStatus; of an endpoint that was stopped, which the service would have deleted, `Stopped`."""
    if record.status is JobStatus.IN_PROGRESS:
        return "InService" if record.phase is JobPhase.TRAINING else "Creating"
    return "Deleting" if record.status is JobStatus.STOPPING else str(record.status)


def describe(stored: StoredJob, *, final: bool = False) -> dict[str, Any]:  # noqa: ARG001 - the end says everything
    """The DescribeEndpoint answer."""
    record, request = stored.record, stored.documents["request"]
    word = status_word(record)
    container = _container(request)
    variant = _variant(request)
    count = variant.get("InitialInstanceCount", 1)
    ours = {
        "VariantName": variant.get("VariantName", facts.VARIANT),
        "DeployedImages": [
            {
                "SpecifiedImage": container.get("Image", ""),
                "ResolvedImage": container.get("Image", ""),
                "ResolutionTime": record.created,
            }
        ],
        "CurrentWeight": variant.get("InitialVariantWeight", 1.0),
        "DesiredWeight": variant.get("InitialVariantWeight", 1.0),
        "CurrentInstanceCount": count,
        "DesiredInstanceCount": count,
    }
    return {
        "EndpointName": record.name,
        "EndpointArn": record.arn,
        "EndpointConfigName": request.get("EndpointConfigName", record.name),
        **({"ProductionVariants": [ours]} if word == "InService" else {}),
        "EndpointStatus": word,
        **({"FailureReason": record.failure_reason} if record.failure_reason else {}),
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
    }


def still_to_come(stored: StoredJob) -> dict[str, Any]:
    """Where a running endpoint is invoked; one that has ended has it among its results."""
    if stored.record.status.terminal:
        return {}
    name = stored.documents["request"].get("EndpointName", stored.record.name)
    return shown(stored.documents.get(HOSTING), name)


def request_only(request: Mapping[str, Any]) -> dict[str, Any]:
    """The model and its configuration: DescribeEndpoint has only their names."""
    return {name: value for name, value in request.items() if name not in {"EndpointName", "EndpointConfigName"}}


def listed(record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:  # noqa: ARG001 - the record has everything
    """As ListEndpoints answers, with the reason."""
    return "Endpoints", {
        "EndpointName": record.name,
        "EndpointArn": record.arn,
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
        "EndpointStatus": status_word(record),
        "FailureReason": record.failure_reason,
    }


def words(record: JobRecord) -> tuple[str, str]:
    """The status says everything."""
    return status_word(record), ""


def spoken(record: JobRecord) -> Spoken:
    """An endpoint; the service gives its container 30 seconds."""
    return Spoken(
        job="endpoint",
        ended=f"The endpoint '{record.name}' has ended: it is {status_word(record)}.",
        stopping="stopping",
        longest_grace=facts.STOP_SECONDS,
        no_metrics="has no metrics: it is an endpoint",
        no_tensors="saves no tensors: it is an endpoint",
        no_artifacts="It is an endpoint, which writes no artifacts.",
    )


def host_names(record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:  # noqa: ARG001 - see below
    """The name of the production variant."""
    return [_variant(request()).get("VariantName", facts.VARIANT)]


def host_called(record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:  # noqa: ARG001 - see below
    """Nothing else."""
    return {}


def metrics(request: Mapping[str, Any]) -> tuple[MetricDefinition, ...]:  # noqa: ARG001 - there are none
    """The service finds no metrics in these logs."""
    return ()


def not_interruptible(request: Mapping[str, Any]) -> tuple[str, str]:  # noqa: ARG001 - no endpoint is
    """Endpoints run on no spot instances."""
    return "is an endpoint, which has no spot interruptions", "To end it: smlocal stop."


def start(plan: JobPlan) -> StartView:
    """`my-image · local`."""
    host = plan.hosts[0].host
    return StartView(
        about=f"{plan.image.name} · {host.instance_type}",
        members={"EndpointName": plan.name, "Image": plan.image.name, "InstanceType": host.instance_type},
        phases={str(phase): word for phase, word in _PHASES.items() if phase is not JobPhase.STARTING},
        causes={StopCause.REQUEST: "SIGTERM sent"},
    )


def view(stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
    """What is shown of an endpoint."""
    record = stored.record
    stages = tuple(
        Stage(
            name=_PHASES.get(each.status, str(each.status)),
            message="",
            began=each.started,
            ended=each.ended,
            final=each.status in {JobPhase.FAILED, JobPhase.STOPPED},
        )
        for each in stored.transitions
    )
    members = ("EndpointName", "EndpointStatus", "FailureReason")
    return JobView(
        name=record.name,
        status=record.status,
        state=status_word(record),
        why="",
        reason=record.failure_reason or "",
        created=record.created,
        began=min((each.began for each in stages if each.name == "InService"), default=record.created),
        seconds=record.modified - record.created,
        stages=stages,
        members={each: answer.get(each) for each in members},
        answer=answer,
        shell=False,
    )


def described_rows(view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
    """The address, the model, and what happened to the container."""
    answer, local = view.answer, view.local
    request = local["Request"]
    container = _container(request)
    yield "Endpoint", view.name
    yield "Status", view.state
    if view.reason:
        yield "Reason", view.reason
    yield "ARN", answer["EndpointArn"]
    if local.get("Address") and not view.status.terminal:
        yield "Address", local["Address"]
    yield "Image", container.get("Image", "")
    yield "Model", _model(container) or "none"
    yield "Created", local_time(answer["CreationTime"])
    if not view.status.terminal:
        yield "Supervisor", f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting"
        if view.state == "InService":
            yield "Health", local.get("PingTrouble") or "/ping answers 200"
    if local.get("RestartCount"):
        last = local["Restarts"][-1]
        code, at = last["ExitCode"], local_time(last["At"])
        yield "Restarts", f"{local['RestartCount']}, the last after exit code {code} at {at}"


def _container(request: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = request.get("PrimaryContainer") or (request.get("Containers") or [{}])[0]
    return found


def _variant(request: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (request.get("ProductionVariants") or [{}])[0]
    return found


def _model(container: Mapping[str, Any]) -> str:
    source = ((container.get("ModelDataSource") or {}).get("S3DataSource")) or {}
    return str(container.get("ModelDataUrl") or source.get("S3Uri") or "")
