"""Executions of pipelines: each is a job that leads others, and a retry is another one with the same ARN."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.job_operations import in_one_line, refusals_answered, start
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.pipelines import (
    PIPELINE,
    FoundExecution,
    asked_of_list,
    called,
    checked_definition,
    client_local,
    definition_text,
    digest_of,
    executions_below,
    pipeline_document,
    version_of,
)
from smlocal.endpoint.serving import Serving
from smlocal.errors import InstanceLimitError, JobFinishedError, JobUnknownError, NameInUseError
from smlocal.errors.of_commands import CallbackAnswerError, CallbackUnknownError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.control.requests import wake
from smlocal.jobs.documents import JOB, REQUEST
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker import kinds
from smlocal.sagemaker.pipelines import stored
from smlocal.sagemaker.pipelines.deciding import State
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.listing import has_begun, listed
from smlocal.sagemaker.pipelines.names import display_name, execution_arn, made_id
from smlocal.sagemaker.pipelines.parameters import read_parameters, values_of
from smlocal.sagemaker.pipelines.reading import DEFINITION
from smlocal.sagemaker.pipelines.selecting import selection_trouble
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate, printed
from smlocal.terms.statuses import JobStatus

_ARN: Final = "PipelineExecutionArn"
_NOT_STORED: Final = frozenset({"ClientRequestToken", "PipelineVersionAlias", LOCAL})
_CHANGED: Final = ("PipelineExecutionDescription", "PipelineExecutionDisplayName", "ParallelismConfiguration")
_PARAMETERS: Final = "PipelineParameters"
_SELECTION: Final = "SelectiveExecutionConfig"
_SOURCE: Final = "SourcePipelineExecutionArn"
_MOST: Final = 100
"""Rows of a page. The service's own number is not published; SDKs read one page of steps."""
_ASKED: Final = "Asked"
"""The digest of the StartPipelineExecution request: the same one again is answered as the first."""
_SENT: Final = "Sent"
"""The ClientRequestToken of a retry or a stop: the same one again is answered as the first."""
_STOP: Final = "pipeline-stop"
"""The document of an execution with that of its stop."""


def start_pipeline_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record it, and answer. Its leader is a process of its own."""
    asked = call.parameters
    pipeline = called(serving, asked["PipelineName"], call)
    version = version_of(pipeline, asked)
    text = definition_text(serving, pipeline, version)
    document = pipeline_document(
        serving, {**pipeline.body, "PipelineName": pipeline.name}, text, client_local(serving, pipeline.body, asked)
    )
    definition = checked_definition(serving, document)
    _add_stand_ins(serving, document.data[LOCAL], definition)
    # The same token makes the same id, and only one job can have the name with it.
    execution_id = made_id(hashlib.sha256(f"{pipeline.arn} {asked['ClientRequestToken']}".encode()).digest()[:16])
    begin = {
        "PipelineExecutionDisplayName": display_name(round(time.time() * 1000)),
        **{member: value for member, value in asked.items() if member not in _NOT_STORED},
        "PipelineName": pipeline.name,
        "PipelineArn": pipeline.arn,
        "PipelineVersionId": version["Id"],
        **_experiment(definition, asked, pipeline, execution_id),
    }
    again = digest_of(asked)
    reading: Any = kinds.PIPELINE.reads
    with refusals_answered():
        file, name = reading.begun(document, start=begin, execution_id=execution_id)
        waiting = kinds.PIPELINE.waiting_job(file, name)
    _check_selection(serving, pipeline.arn, file.definition, asked.get(_SELECTION))
    documents = {stored.CLIENT: {**_of_client(serving), _ASKED: again}}
    try:
        record = _started(serving, waiting, name, documents)
    except NameInUseError:
        record = serving.store.get(name)
        if (serving.store.document(name, stored.CLIENT) or {}).get(_ASKED) != again:
            raise ServiceError(
                "ConflictException", f"Another execution, {record.arn}, was started with this ClientRequestToken."
            ) from None
    return {_ARN: record.arn}


def _started(serving: Serving, waiting: Any, name: str, documents: Mapping[str, Any]) -> JobRecord:
    try:
        return start(serving, waiting, name=name, documents=documents)
    except InstanceLimitError as error:
        raise ServiceError("ResourceLimitExceeded", error.sentence) from None


def _of_client(serving: Serving) -> dict[str, Any]:
    """How this server was started: the leader makes the calls of the steps with the rights of its clients."""
    options = serving.options
    rights, folders = options.rights, serving.job_rights().folders
    return {
        "Buckets": serving.buckets,
        "AllowedPaths": list(rights.allowed_paths or ()),
        "Folders": None if folders is None else list(folders),
        "AllowedBuckets": None if rights.allowed_buckets is None else list(rights.allowed_buckets),
        "LocalMembers": rights.local_members,
        "WithKey": options.with_key,
        "Local": dict(options.local),
    }


def _add_stand_ins(serving: Serving, local: dict[str, Any], definition: Definition) -> None:
    """The stand-ins of the server's owner for steps of this definition; `ServiceError` if a step lacks its stand-in."""
    owners = {name: each for name, each in serving.options.stand_ins.items() if name in definition.steps}
    if owners:
        local["Steps"] = {**owners, **(local.get("Steps") or {})}
    taken = local.get("Steps") or {}
    missing = [step for step in definition.steps.values() if step.type.needs_stand_in and step.name not in taken]
    if missing:
        said = ", ".join(f"{step.name} ({step.type.name})" for step in missing[:10])
        raise validation_error(
            f"These steps do not run on this machine: {said}. Say what stands in for them in a YAML file, such as "
            f"'{missing[0].name}: {{Python: step.py:handler}}', and give it to smlocal exec or serve: --steps FILE"
        )


def _experiment(
    definition: Definition, asked: Mapping[str, Any], pipeline: StoredResource, execution_id: str
) -> dict[str, Any]:
    """The names of the experiment and the trial, for DescribePipelineExecution. There are no experiments here."""
    given = definition.given.get("PipelineExperimentConfig")
    values, _ = values_of(definition.parameters, {each["Name"]: each["Value"] for each in asked.get(_PARAMETERS, ())})
    execution = {
        "PipelineName": pipeline.name,
        "PipelineArn": pipeline.arn,
        "PipelineExecutionId": execution_id,
        _ARN: execution_arn(pipeline.arn, execution_id),
    }
    try:
        found = evaluate(given or {}, Known(parameters=values, execution=execution))
    except ValueUnknownError:
        return {}
    shown = {name: found[name] for name in ("ExperimentName", "TrialName") if isinstance(found.get(name), str)}
    return {"PipelineExperimentConfig": shown} if shown else {}


def _check_selection(
    serving: HasStore, pipeline_arn: str, definition: Definition, asked: Mapping[str, Any] | None
) -> None:
    if asked is None:
        return
    source_arn, steps = asked.get(_SOURCE), {}
    if source_arn is not None:
        if source_arn.partition("/execution/")[0] != pipeline_arn:
            raise validation_error(f"Invalid {_SOURCE}: {source_arn}. It is not of the pipeline {pipeline_arn}.")
        steps = stored.read_steps(serving.store, _job(serving, source_arn))
    trouble = selection_trouble(
        definition,
        [each["StepName"] for each in asked["SelectedSteps"]],
        source_arn=source_arn,
        source={name: step.progress for name, step in steps.items()},
    )
    if trouble is not None:
        raise validation_error(trouble)


def retry_pipeline_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Go on with an execution that has ended: another job, with what has succeeded."""
    asked = call.parameters
    name, token = _called(serving, call), asked["ClientRequestToken"]
    read = serving.store.read(name, (REQUEST, JOB, stored.STATE, stored.CLIENT, stored.RETRY))
    record, documents = read.record, read.documents
    before = documents.get(stored.RETRY) or {}
    if before.get(_SENT) == token:
        return {_ARN: record.arn}
    status = stored.status_of(record, documents.get(stored.STATE))
    if not record.status.terminal or status == "Succeeded":
        raise validation_error(f"Pipeline execution {record.arn} is in status {status}, and cannot be retried.")
    kept = {step: each for step, each in stored.read_steps(serving.store, name).items() if _has_succeeded(each)}
    parallel = {member: asked[member] for member in ("ParallelismConfiguration",) if member in asked}
    with refusals_answered():
        waiting = kinds.PIPELINE.planning.retried_job(documents[JOB], {**documents[REQUEST], **parallel})
    more = {
        stored.STATE: stored.state_document(kept, {}, status="Executing", stopping=False),
        **{stored.step_document(step): each.document() for step, each in kept.items()},
        **({stored.CLIENT: documents[stored.CLIENT]} if stored.CLIENT in documents else {}),
        stored.RETRY: {"Created": before.get("Created", record.created), _SENT: token},
    }
    for another in _names_after(name, first=not before):
        try:
            _started(serving, waiting, another, more)
        except NameInUseError:
            there = serving.store.read(another, (stored.RETRY,))
            if there.record.arn != record.arn:
                continue
            if (there.documents.get(stored.RETRY) or {}).get(_SENT) != token:  # another call was first
                text = f"Pipeline execution {record.arn} is being retried."
                raise ServiceError("ConflictException", text) from None
        break
    return {_ARN: record.arn}


def _has_succeeded(step: StoredStep) -> bool:
    return step.progress.state is State.SUCCEEDED


def _names_after(name: str, *, first: bool) -> Iterator[str]:
    """`NAME-2`, then `NAME-3`."""
    stem, _, number = name.rpartition("-")
    return (f"{name if first else stem}-{each}" for each in count(2 if first else int(number) + 1))


def stop_pipeline_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Answers once the stop is recorded. The same call again is answered as the first."""
    name, sent = _called(serving, call), {_SENT: call.parameters["ClientRequestToken"]}
    try:
        read = serving.store.read(name, (_STOP,))
        if read.documents.get(_STOP) == sent:
            return {_ARN: read.record.arn}
        if read.record.status is not JobStatus.IN_PROGRESS:
            raise _not_executing()
        serving.store.put_document(name, _STOP, sent)
        stop(serving.store, name, grace=None, on_message=lambda _: None)
    except JobUnknownError:
        raise _unknown(call.parameters[_ARN]) from None
    except JobFinishedError:
        raise _not_executing() from None
    return {_ARN: read.record.arn}


def _not_executing() -> ServiceError:
    """Airflow looks for these words. One that is stopping is none either."""
    return validation_error("Only pipelines with 'Executing' status can be stopped.")


def update_pipeline_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Its names, and how many steps run at once."""
    asked = call.parameters
    name = _called(serving, call)
    changes = {member: asked[member] for member in _CHANGED if member in asked}
    serving.store.change_document(name, REQUEST, lambda request: {**request, **changes})
    wake(serving.store, name)
    return {_ARN: serving.store.get(name).arn}


def describe_pipeline_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it is now."""
    return stored.described(serving.store.read(_called(serving, call), (REQUEST, stored.STATE, stored.RETRY)))


def describe_pipeline_definition_for_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """That of the version which it began with."""
    read = serving.store.read(_called(serving, call), (JOB,))
    return {DEFINITION: _definition_of(read.documents[JOB]), "CreationTime": read.record.created}


def _definition_of(job: Mapping[str, Any]) -> str:
    """The text in a recorded file, which may be that of a definition alone, or of a request."""
    data = {name: value for name, value in job["Data"].items() if name != LOCAL}
    given = data.get(DEFINITION, data)
    return given if isinstance(given, str) else json.dumps(given)


def list_pipeline_executions(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of those of one pipeline."""
    asked = asked_of_list(call.parameters)
    found = _executions(serving, call)
    if "PipelineVersionAlias" in asked:
        number = version_of(called(serving, asked["PipelineName"], call), asked)["Id"]
        requests = serving.store.jobs_with(REQUEST, [each.record.name for each in found])
        of_version = {record.name for record, request in requests if request.get("PipelineVersionId") == number}
        found = [each for each in found if each.record.name in of_version]

    def summary(execution: FoundExecution) -> dict[str, Any]:
        read = serving.store.read(execution.record.name, (REQUEST, stored.STATE, stored.RETRY))
        answer = stored.described(read)
        known = {
            _ARN: answer[_ARN],
            "StartTime": answer["CreationTime"],
            "PipelineExecutionStatus": answer["PipelineExecutionStatus"],
            "PipelineExecutionDescription": answer.get("PipelineExecutionDescription"),
            "PipelineExecutionDisplayName": answer.get("PipelineExecutionDisplayName"),
            "PipelineExecutionFailureReason": answer.get("FailureReason"),
        }
        return {member: value for member, value in known.items() if value is not None}

    taken = take(found, asked, others={_ARN: lambda execution: execution.name})
    return page_of(taken, asked, member="PipelineExecutionSummaries", summary=summary)


def _executions(serving: Serving, call: AwsCall) -> list[FoundExecution]:
    """Also of a pipeline that only `smlocal run` knows."""
    named = call.parameters["PipelineName"]
    try:
        return executions_below(serving, called(serving, named, call).arn)
    except ServiceError:
        arn = named if named.startswith("arn:") else PIPELINE.arn(named, region=call.region)
        found = executions_below(serving, arn)
        if not found:
            raise
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _ListedStep:
    """A step in a list, by the order in which it began."""

    step: StoredStep

    @property
    def name(self) -> str:
        return self.step.listed.name

    @property
    def created(self) -> float:
        return float(self.step.progress.number)

    @property
    def modified(self) -> float:
        return self.created  # no filter asks for it


def list_pipeline_execution_steps(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of the steps that have begun, the newest first."""
    asked = {"MaxResults": _MOST, **call.parameters}
    if _ARN not in asked:
        raise validation_error(
            "1 validation error detected: Value null at 'pipelineExecutionArn' failed to satisfy constraint: "
            "Member must not be null"
        )
    steps = stored.read_steps(serving.store, _called(serving, call)).values()
    taken = take([_ListedStep(step=step) for step in steps if has_begun(step.progress)], asked)
    rows = {each.name: listed([each.step.listed])[0] for each in taken[0]}
    return page_of(taken, asked, member="PipelineExecutionSteps", summary=lambda each: rows[each.name])


@dataclass(frozen=True, kw_only=True, slots=True)
class _ListedParameter:
    """The value of a parameter, by its place in the definition."""

    name: str
    value: str
    created: float

    @property
    def modified(self) -> float:
        return self.created  # no filter asks for it


def list_pipeline_parameters_for_execution(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them, also of those that have their default."""
    asked = {"MaxResults": _MOST, **call.parameters}
    read = serving.store.read(_called(serving, call), (JOB, REQUEST))
    definition = json.loads(_definition_of(read.documents[JOB]))
    given = {each["Name"]: each["Value"] for each in read.documents[REQUEST].get(_PARAMETERS, ())}
    parameters, _ = read_parameters(definition.get("Parameters"))
    values, _ = values_of(parameters, given)
    found = [
        _ListedParameter(name=name, value=printed(value), created=float(number))
        for number, (name, value) in enumerate(values.items())
    ]
    return page_of(
        take(found, asked, order="Ascending"),
        asked,
        member="PipelineParameters",
        summary=lambda each: {"Name": each.name, "Value": each.value},
    )


def send_pipeline_execution_step_success(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The Callback that waits with this token succeeds."""
    outputs = {each["Name"]: each["Value"] for each in call.parameters.get("OutputParameters", ())}
    return _answer(serving, call, outputs=outputs)


def send_pipeline_execution_step_failure(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The Callback that waits with this token fails."""
    return _answer(serving, call, reason=call.parameters.get("FailureReason", ""))


def _answer(serving: HasStore, call: AwsCall, **answer: Any) -> dict[str, Any]:
    asked = call.parameters
    token, request = asked["CallbackToken"], asked.get("ClientRequestToken", "")
    try:
        return {_ARN: stored.answer_callback(serving.store, token, request=request, **answer)}
    except CallbackUnknownError as error:
        raise ServiceError("ResourceNotFound", in_one_line(error)) from None
    except CallbackAnswerError as error:
        raise validation_error(in_one_line(error)) from None


# Which execution.


def _called(serving: HasStore, call: AwsCall) -> str:
    """The newest job of the execution that a call names."""
    return _job(serving, call.parameters[_ARN])


def _job(serving: HasStore, arn: str) -> str:
    try:
        name = serving.store.name_of(arn)
        if serving.store.get(name).platform == kinds.PIPELINE.name:
            return name
    except JobUnknownError:
        pass
    raise _unknown(arn)


def _unknown(arn: str) -> ServiceError:
    return ServiceError("ResourceNotFound", f"Pipeline execution '{arn}' does not exist.")


EXECUTIONS: Final[Mapping[str, Handler]] = {
    "DescribePipelineDefinitionForExecution": describe_pipeline_definition_for_execution,
    "DescribePipelineExecution": describe_pipeline_execution,
    "ListPipelineExecutionSteps": list_pipeline_execution_steps,
    "ListPipelineExecutions": list_pipeline_executions,
    "ListPipelineParametersForExecution": list_pipeline_parameters_for_execution,
    "RetryPipelineExecution": retry_pipeline_execution,
    "SendPipelineExecutionStepFailure": send_pipeline_execution_step_failure,
    "SendPipelineExecutionStepSuccess": send_pipeline_execution_step_success,
    "StartPipelineExecution": start_pipeline_execution,
    "StopPipelineExecution": stop_pipeline_execution,
    "UpdatePipelineExecution": update_pipeline_execution,
}
"""Those on executions."""
