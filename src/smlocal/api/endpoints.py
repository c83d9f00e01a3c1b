"""Endpoints of this machine: made from a model, invoked, and listed."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from smlocal.api.execution import execute_in_background
from smlocal.api.job_files import kind_of
from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import UsageRefusedError
from smlocal.errors.of_jobs import (
    DeployImageError,
    EndpointNotInServiceError,
    InvocationFailedError,
    NotAnEndpointError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.documents import PLAN, RECALL, REQUEST
from smlocal.jobs.finish.describe import view_job
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import recall_containers
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store, name_in_use
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.view import JobView, Reporter
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.kinds import ENDPOINT
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import invocation_address, key_headers, socket_path
from smlocal.sagemaker.serving.model_file import READING, SERVING, ModelFile, instance_type_names, read_model
from smlocal.sagemaker.serving.named_endpoint import endpoint_of, find_endpoint
from smlocal.sagemaker.serving.state import HOSTING, State, invocation_seconds, read_state, status_word
from smlocal.sagemaker.serving.variants import container_of, containers_in
from smlocal.terms.statuses import JobStatus
from smlocal.terms.validation.violation import closest

if TYPE_CHECKING:
    from socket import socket

    from smlocal.api.job_names import resolve_job_name
    from smlocal.api.job_source import read_file
    from smlocal.base.unix_sockets import connect_to
else:  # for the models of jobs and of files, and for invocations
    resolve_job_name = at_use("smlocal.api.job_names", "resolve_job_name")
    read_file = at_use("smlocal.api.job_source", "read_file")
    connect_to = at_use("smlocal.base.unix_sockets", "connect_to")

_FILES: Final = (".yaml", ".yml", ".json")
_PACKAGE_ARN: Final = ":model-package/"
_COMMAND_LINE: Final = "command line"
_CARRIED: Final = ("Engines", "Gpus", "AllowCpu", "Region", "Sources")
"""The settings of a job that its endpoint takes over."""
TARGET_VARIANT: Final = "X-Amzn-SageMaker-Target-Variant"
"""The request header with the wanted variant."""
_PAUSES: Final = (0.01, 0.05)
_LISTENS_SECONDS: Final = 15.0
_MORE_SECONDS: Final = 10.0
"""Beyond the limit of the endpoint, which answers for its container when that is over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedEndpoint:
    """One of them."""

    record: JobRecord
    called: str
    """The name under which it answers: an update is a job of another name."""
    status: str
    state: State


@dataclass(frozen=True, kw_only=True, slots=True)
class InvocationAnswer:
    """What a container has answered to an invocation."""

    content_type: str
    headers: Mapping[str, str]
    pieces: Iterator[bytes]
    """The body as it comes."""


def model_to_deploy(
    what: str | Document,
    *,
    image: str | None,
    variables: Mapping[str, str],
    name: str | None,
    startup_seconds: int | None = None,
    key: bool | None = None,
) -> tuple[ModelFile, str]:
    """The validated model of a job, an archive, a model file or a document, and the name of its endpoint.

    These replace settings of the file: `startup_seconds`, the time until the first answered ping; `key`, whether the
    address demands a key.
    """
    document, stem = (what, facts.PRIMARY) if isinstance(what, Document) else _document(what)
    called = document.name if isinstance(what, Document) else what
    READING.complete(document, strict=False)
    document.overrides = _COMMAND_LINE
    places = list(containers_in(document.data))
    if image is not None:
        if len(places) > 1:
            raise UsageRefusedError(
                f"{called} has {len(places)} containers, and --image names one image",
                remedy=["Name the images in the file."],
            )
        document.set((*places[0], "Image"), image)
    for variable, value in variables.items():
        for at in places:
            document.set((*at, "Environment", variable), value)
    if name is not None:
        document.set(("EndpointName",), name)
    if startup_seconds is not None:
        document.set((LOCAL, SERVING, "StartupSeconds"), startup_seconds)
    if key is not None:
        document.set((LOCAL, SERVING, "Key"), key)
    at = places[0]
    if len(places) == 1 and not document.has((*at, "Image")) and not document.has((*at, "ModelPackageName")):
        document.set((*at, "Image"), "any")
        read_model(document)  # a misspelt member is the cause, or another mistake to correct first
        raise DeployImageError(
            f"no image is given to serve {called}", remedy=[f"Name one: smlocal deploy {called} --image IMAGE"]
        )
    model = read_model(document)
    return model, model.raw.get("EndpointName") or default_name(stem, datetime.now().astimezone())


def _document(what: str) -> tuple[Document, str]:
    if what.endswith(_FILES) and not os.path.isdir(what):
        document = read_file(what)
        kind = kind_of(document.data)
        if kind is not ENDPOINT and kind.describes(document.data) and kind.sign in document.data:
            raise NotAnEndpointError(
                f"{what} describes {kind.with_article}; smlocal deploy takes a model", remedy=kind.deployed(what)
            )
        return document, os.path.splitext(os.path.basename(what))[0]
    package = _package_name(what)
    if package is not None:
        return Document(
            {"PrimaryContainer": {"ModelPackageName": what}}, name=_COMMAND_LINE, directory=os.getcwd()
        ), package
    if os.path.exists(what) or os.sep in what or what.endswith((".gz", ".tgz")):
        return _of_archive(what), os.path.basename(what).partition(".")[0]
    return _of_job(what)


def _package_name(what: str) -> str | None:
    """What an endpoint of the package with this ARN or name is called; None if no package is meant."""
    if _PACKAGE_ARN in what and what.startswith("arn:"):
        return what.partition("/")[2].replace("/", "-")
    if what.count(os.sep) == 1 and what.rpartition(os.sep)[2].isdecimal() and not os.path.exists(what):
        from smlocal.api.model_registry import is_package  # few names look like one

        return what.replace(os.sep, "-") if is_package(what) else None
    return None


def _of_archive(path: str) -> Document:
    return Document({"PrimaryContainer": container_of(path)}, name=_COMMAND_LINE, directory=os.getcwd())


def _of_job(what: str) -> tuple[Document, str]:
    """The model, the image and the instance type of a job that has ended; of a tuning job, those of its best."""
    from smlocal.sagemaker.serving.model_of_job import model_of_job  # not for files

    name = resolve_job_name(what)
    with Store.open(home_directory()) as store:
        found = model_of_job(store, name)
    instance = (found.request.get("ResourceConfig") or {}).get("InstanceType")
    if instance not in instance_type_names():
        instance = "local"  # endpoints have fewer types than training jobs
    variant = {"VariantName": facts.VARIANT, "InstanceType": instance, "InitialInstanceCount": 1}
    data: dict[str, Any] = {"PrimaryContainer": found.container, "ProductionVariants": [variant]}
    if found.request.get("RoleArn"):
        data["ExecutionRoleArn"] = found.request["RoleArn"]
    local = found.recorded.get(LOCAL) or {}
    carried = {key: local[key] for key in _CARRIED if key in local}
    if carried:
        data[LOCAL] = carried
    return Document(data, name=f"the job {found.job}", directory=os.getcwd()), found.job


def refuse_served_name(name: str) -> None:
    """An error if a job of another name serves this endpoint: it is a client's, after an update."""
    with Store.open(home_directory()) as store:
        there = find_endpoint(store, name)
        if there is not None and there.job.name != name:
            raise name_in_use(name, job="endpoint", running=there.job.name)


def deploy_in_background(model: ModelFile, *, name: str, replace: bool, reporter: Reporter | None = None) -> None:
    """Return as soon as the endpoint has a supervisor, in a process of its own."""
    refuse_served_name(name)
    execute_in_background(model, name=name, strict=False, replace=replace, reporter=reporter or Reporter())


def wait_in_service(name: str, *, working: Callable[[str], None]) -> ListedEndpoint:
    """Wait until it is in service, or has ended."""
    pause = _PAUSES[0]
    with Store.open(home_directory()) as store:
        while True:
            ensure_supervised(store, name)
            found = _listed(store, store.get(name))
            if found.status == "InService" or found.record.status.terminal:
                return found
            working(f"{name} is {found.status}")
            time.sleep(pause)
            pause = min(pause * 1.3, _PAUSES[1])


def view_endpoint(name: str) -> JobView:
    """What is shown of one."""
    with Store.open(home_directory()) as store:
        return view_job(store, name)


def address_of(name: str) -> tuple[str, dict[str, str]]:
    """The address of an endpoint that is in service, and the headers that it demands."""
    with Store.open(home_directory()) as store:
        endpoint = _listed(store, store.get(name))
    return invocation_address(endpoint.called, endpoint.state.port), key_headers(endpoint.state.key_file)


def plan_of(name: str) -> JobPlan:
    """How an endpoint that has a supervisor is run: where its container is reached, and where its model is."""
    with Store.open(home_directory()) as store:
        return recall_containers(store.document(name, RECALL) or {})


def list_endpoints() -> list[ListedEndpoint]:
    """The newest first."""
    with Store.open(home_directory()) as store:
        return [_listed(store, record) for record in store.list() if record.platform == facts.NAME]


def _listed(store: Store, record: JobRecord) -> ListedEndpoint:
    return ListedEndpoint(
        record=record,
        called=endpoint_of(store, record.name),
        status=status_word(record),
        state=read_state(store.document(record.name, HOSTING)),
    )


def invoke(name: str, body: bytes, headers: Mapping[str, str]) -> InvocationAnswer:
    """Invoke an endpoint as InvokeEndpoint does. An error that it answers is raised."""
    import http.client

    with Store.open(home_directory()) as store:
        named = find_endpoint(store, name)
        record = store.get(name) if named is None else named.job
        if record.platform != facts.NAME:
            raise NotAnEndpointError(
                f"{name} is a job, not an endpoint", remedy=[f"Deploy its model first: smlocal deploy {name}"]
            )
        ensure_supervised(store, record.name)
        endpoint = _listed(store, store.get(record.name))
        seconds = invocation_seconds(store.document(record.name, PLAN)) + _MORE_SECONDS
        directory = store.directory(record.name)
        variants = _variants(store.document(record.name, REQUEST) or {})
    if endpoint.status != "InService" or not endpoint.state.port:
        raise _not_in_service(endpoint)
    connection = http.client.HTTPConnection("localhost", timeout=seconds)
    try:
        connection.sock = _connected(directory, endpoint.record.name, seconds=seconds)
        connection.request("POST", f"/endpoints/{endpoint.called}/invocations", body=body, headers=dict(headers))
        answer = connection.getresponse()
    except OSError as error:
        raise EndpointNotInServiceError(
            f"the endpoint {name} does not answer: {error.strerror or error}",
            remedy=[f"smlocal describe {name} shows its state, smlocal logs {name} its output."],
        ) from error
    if answer.status != 200:  # noqa: PLR2004 - HTTP
        raw = answer.read()
        connection.close()
        try:
            said = json.loads(raw)
        except ValueError:
            said = {"Message": raw.decode(errors="replace")}
        kind = answer.getheader("x-amzn-ErrorType") or str(answer.status)
        raise _failed(name, kind, said, variant=headers.get(TARGET_VARIANT), variants=variants)

    def pieces() -> Iterator[bytes]:
        try:
            while piece := answer.read1(1 << 16):
                yield piece
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
        except (http.client.HTTPException, OSError) as error:
            raise InvocationFailedError(
                f"the answer of {name} was cut short", details=[str(error)], remedy=[f"smlocal logs {name}"]
            ) from error
        finally:
            connection.close()

    return InvocationAnswer(
        content_type=answer.getheader("Content-Type") or "", headers=dict(answer.getheaders()), pieces=pieces()
    )


def _connected(directory: str, name: str, *, seconds: float) -> "socket":
    """A connection to the supervisor. After it was killed, the next one may need some time to listen."""
    deadline = time.monotonic() + _LISTENS_SECONDS
    while True:
        try:
            return connect_to(socket_path(directory), seconds=seconds)
        except (ConnectionRefusedError, FileNotFoundError):
            with Store.open(home_directory()) as store:
                ended = store.get(name).status.terminal
            if ended or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSES[1])


def _not_in_service(endpoint: ListedEndpoint) -> EndpointNotInServiceError:
    record = endpoint.record
    remedy = "Wait until it is InService: smlocal endpoints shows that."
    if record.status is JobStatus.STOPPING:
        remedy = f"It is being stopped. Wait until it has ended (smlocal wait {record.name}), and deploy it again."
    elif record.status.terminal:
        remedy = f"Deploy it again; smlocal describe {record.name} shows why it has ended."
    return EndpointNotInServiceError(
        f"the endpoint {record.name} is not in service: it is {endpoint.status}",
        details=[record.failure_reason] if record.failure_reason else [],
        remedy=[remedy],
    )


def _variants(request: Mapping[str, Any]) -> list[str]:
    """The names of the variants of an endpoint."""
    return [each.get("VariantName", facts.VARIANT) for each in request.get("ProductionVariants") or [{}]]


def _failed(
    name: str, kind: str, said: Mapping[str, Any], *, variant: str | None, variants: Sequence[str]
) -> InvocationFailedError:
    """The error of an endpoint. `variant`: the requested one; `variants`: all of the endpoint."""
    remedy = [f"smlocal logs {name} shows the container's output."]
    if variant is not None and variant not in variants:
        meant = closest(variant, variants)
        several, listed = len(variants) > 1, ", ".join(variants)
        remedy = [f"Its variants are {listed}." if several else f"Its variant is {variants[0]}."]
        remedy += [f"Did you mean {meant}?"] if meant and several else []
    details = [f"OriginalStatusCode  {said['OriginalStatusCode']}"] if "OriginalStatusCode" in said else []
    if said.get("OriginalMessage"):
        details.append(f"OriginalMessage     {said['OriginalMessage']}")
    return InvocationFailedError(
        f"{kind}: {said.get('Message') or said.get('message') or ''}",
        details=details,
        remedy=remedy,
    )
