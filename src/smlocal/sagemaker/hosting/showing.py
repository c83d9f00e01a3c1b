"""Endpoints in answers and on screens."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.base.accounts import other_users
from smlocal.base.readable import local_time
from smlocal.jobs.kinds import Showing, Spoken
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, StartView
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import OPEN_TO_ALL, curl_header
from smlocal.sagemaker.serving.state import HOSTING, WEIGHTS, shown, status_word
from smlocal.terms.statuses import JobPhase, StopCause

_PHASES: Final = {
    JobPhase.STARTING: "Creating",
    JobPhase.DOWNLOADING: "Creating",
    JobPhase.TRAINING: "InService",
    JobPhase.STOPPING: "Deleting",
}
_ON_NO_SCREEN: Final = {JobPhase.STARTING, JobPhase.STOPPING}
"""Not shown while you wait for an endpoint."""


class EndpointShowing(Showing[JobPlan]):
    """Words of DescribeEndpoint and ListEndpoints."""

    DOCUMENTS = (HOSTING, WEIGHTS)
    """Where it is invoked, and the weights of its variants."""
    LIST = "Endpoints"
    UNINTERRUPTIBLE = ("is an endpoint, which has no spot interruptions", "To end it: smlocal stop.")
    HAS_PAGE_PARTS = True

    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The DescribeEndpoint answer."""
        record, request = stored.record, stored.documents["request"]
        word = status_word(record)
        weights = stored.documents.get(WEIGHTS) or {}
        ours = [_summary(request, each, weights, record.created) for each in variants_of(request)]
        return {
            "EndpointName": record.name,
            "EndpointArn": record.arn,
            "EndpointConfigName": request.get("EndpointConfigName", record.name),
            **({"ProductionVariants": ours} if word == "InService" else {}),
            **_capture(request.get("DataCaptureConfig")),
            "EndpointStatus": word,
            **({"FailureReason": record.failure_reason} if record.failure_reason else {}),
            "CreationTime": record.created,
            "LastModifiedTime": record.modified,
        }

    def still_to_come(self, stored: StoredJob) -> dict[str, Any]:
        """The address of a running endpoint; later, the results have it."""
        if stored.record.status.terminal:
            return {}
        name = stored.documents["request"].get("EndpointName", stored.record.name)
        return shown(stored.documents.get(HOSTING), name)

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The model and its configuration: DescribeEndpoint has only their names."""
        return {name: value for name, value in request.items() if name not in {"EndpointName", "EndpointConfigName"}}

    def entry(self, record: JobRecord) -> dict[str, Any]:
        """As ListEndpoints answers, with the reason."""
        return {
            "EndpointName": record.name,
            "EndpointArn": record.arn,
            "CreationTime": record.created,
            "LastModifiedTime": record.modified,
            "EndpointStatus": status_word(record),
            "FailureReason": record.failure_reason,
        }

    def words(self, record: JobRecord) -> tuple[str, str]:
        """The status says everything."""
        return status_word(record), ""

    def spoken(self, record: JobRecord) -> Spoken:
        """An endpoint; the service gives its container 30 seconds."""
        return Spoken(
            job="endpoint",
            ended=f"The endpoint '{record.name}' has ended: it is {status_word(record)}.",
            stopping="stopping",
            longest_grace=facts.STOP_SECONDS,
            endless=True,
            no_metrics="has no metrics: it is an endpoint",
            no_tensors="saves no tensors: it is an endpoint",
            no_artifacts="It is an endpoint, which writes no artifacts.",
        )

    def host_names(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:
        """Those of the containers, in the order of the plan."""
        asked = request()
        usual = _host_names(asked, None)
        if len(usual) == record.instances:
            return usual
        limits = range(1, facts.MOST_INSTANCES + 1)  # Local.Serving.MaxInstances is not in the request
        found = (names for most in limits if len(names := _host_names(asked, most)) == record.instances)
        return next(found, usual)

    def start(self, plan: JobPlan) -> StartView:
        """`my-image · local`."""
        kind = plan.hosts[0].host.instance_type
        more = f" · {len(plan.hosts)} containers" if len(plan.hosts) > 1 else ""
        return StartView(
            about=f"{plan.image.name} · {kind}{more}",
            members={"EndpointName": plan.name, "Image": plan.image.name, "InstanceType": kind},
            phases={str(phase): word for phase, word in _PHASES.items() if phase not in _ON_NO_SCREEN},
            causes={StopCause.REQUEST: "SIGTERM sent"},
        )

    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """What is shown of an endpoint."""
        record = stored.record
        stages = self.stages(stored, _PHASES)
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

    def described_rows(self, view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
        """The address, the model, and what happened to the container."""
        answer, local = view.answer, view.local
        request = local["Request"]
        yield "Endpoint", view.name
        yield "Status", view.state
        if view.reason:
            yield "Reason", view.reason
        yield "ARN", answer["EndpointArn"]
        if local.get("Address") and not view.status.terminal:
            yield from _address_rows(local)
        variants = variants_of(request)
        for variant in variants:
            if len(variants) > 1:
                yield "Variant", _variant_text(variant, answer)
            for container in containers_of(request, variant):
                called = container.get("ContainerHostname")
                yield "Image", f"{container.get('Image', '')}{f' ({called})' if called else ''}"
                yield "Model", model_of(container) or "none"
        yield "Created", local_time(answer["CreationTime"])
        if not view.status.terminal:
            yield (
                "Supervisor",
                f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting",
            )
            if view.state == "InService":
                yield "Health", local.get("PingTrouble") or "/ping answers 200"
        if local.get("RestartCount"):
            last = local["Restarts"][-1]
            what = f"{last['Host']} after" if len(local.get("Hosts") or ()) > 1 else "after"
            at = local_time(last["At"])
            yield "Restarts", f"{local['RestartCount']}, the last {what} exit code {last['ExitCode']} at {at}"


SHOWING: Final = EndpointShowing()


def _capture(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The summary of a recorded configuration; nothing is captured here. All members are required."""
    if config is None:
        return {}
    summary = {
        "EnableCapture": config.get("EnableCapture", False),
        "CaptureStatus": "Stopped",
        "CurrentSamplingPercentage": config["InitialSamplingPercentage"],
        "DestinationS3Uri": config["DestinationS3Uri"],
        "KmsKeyId": config.get("KmsKeyId", ""),
    }
    return {"DataCaptureConfig": summary}


def _summary(
    request: Mapping[str, Any], variant: Mapping[str, Any], weights: Mapping[str, float], at: float
) -> dict[str, Any]:
    name, count = variant.get("VariantName", facts.VARIANT), variant.get("InitialInstanceCount", 1)
    images = [each.get("Image", "") for each in containers_of(request, variant)]
    weight = weights.get(name, variant.get("InitialVariantWeight", 1.0))
    return {
        "VariantName": name,
        "DeployedImages": [{"SpecifiedImage": image, "ResolvedImage": image, "ResolutionTime": at} for image in images],
        "CurrentWeight": weight,
        "DesiredWeight": weight,
        "CurrentInstanceCount": count,
        "DesiredInstanceCount": count,
    }


def _address_rows(local: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Address", local["Address"]
    if local.get("FormerAddress"):
        yield "Moved", f"from {local['FormerAddress']}: another program had taken its port"
    if local.get("KeyFile"):
        yield "Key", f"in {local['KeyFile']} (curl -H {curl_header(local['KeyFile'])})"
    elif other_users():
        yield "Key", f"none: {OPEN_TO_ALL}"


def _host_names(request: Mapping[str, Any], most: int | None) -> list[str]:
    names = []
    for variant in variants_of(request):
        limit = most or facts.usual_instances(variant.get("InstanceType", "local"))
        for number in range(1, min(variant.get("InitialInstanceCount", 1), limit) + 1):
            names += _hosts(request, variant, number)
    return names


def _hosts(request: Mapping[str, Any], variant: Mapping[str, Any], number: int) -> list[str]:
    name = facts.instance_name(variant.get("VariantName", facts.VARIANT), number)
    containers = containers_of(request, variant)
    if len(containers) == 1:
        return [name]
    called = [each.get("ContainerHostname") for each in containers]
    return [f"{name}.{each or facts.numbered_container(place)}" for place, each in enumerate(called, start=1)]


def _variant_text(variant: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """`Blue, weight 3`."""
    name = variant.get("VariantName", "")
    now = {each["VariantName"]: each["CurrentWeight"] for each in answer.get("ProductionVariants", ())}
    return f"{name}, weight {now.get(name, variant.get('InitialVariantWeight', 1.0)):g}"


def variants_of(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The variants of a request, at least one."""
    return request.get("ProductionVariants") or [{}]


def containers_of(request: Mapping[str, Any], variant: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The containers of the variant's model."""
    models = {each.get("ModelName"): each for each in request.get(facts.MODELS) or ()}
    model = models.get(variant.get("ModelName"), request)
    first = model.get("PrimaryContainer")
    return [first] if first else list(model.get("Containers") or [{}])


def model_of(container: Mapping[str, Any]) -> str:
    """The location of a container's model; empty without a model."""
    source = ((container.get("ModelDataSource") or {}).get("S3DataSource")) or {}
    return str(container.get("ModelDataUrl") or source.get("S3Uri") or "")
