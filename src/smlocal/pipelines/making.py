"""What steps make: by the endpoint's own operations, as a client would."""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import checked
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.protocol.models import operation_model
from smlocal.endpoint.sagemaker.operations import HANDLERS
from smlocal.endpoint.sagemaker.request_folders import reopen
from smlocal.endpoint.sagemaker.resources import CONFIG, MODEL
from smlocal.endpoint.serving import Options, Serving
from smlocal.errors import SmlocalError
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.pipelines.retries import RESOURCE_LIMIT
from smlocal.sagemaker.pipelines.step_types import StepType
from smlocal.sagemaker.serving.named_endpoint import ENDPOINT

_SERVICE: Final = "sagemaker"
_EXCEPTIONS: Final = {
    "ResourceLimitExceeded": RESOURCE_LIMIT,
    "ThrottlingException": "Step.THROTTLING",
    "InternalFailure": "Step.SERVICE_FAULT",
}
"""What retry policies call the errors of an operation."""
_RESOURCES: Final = {"Model": MODEL.name, "EndpointConfig": CONFIG.name, "Endpoint": ENDPOINT}
"""What the store calls what steps make, if it is no job."""
_REGISTER: Final = "RegisterModel"
_IDEMPOTENT: Final = "ClientToken"
_LONGEST_TOKEN: Final = 36
"""Characters. The end of a name is what is random in it."""


class RefusedError(Exception):
    """An operation was refused; `exception` is what retry policies call it, if they know it."""

    def __init__(self, message: str, exception: str = "") -> None:
        super().__init__(message)
        self.exception = exception


@dataclass(frozen=True, kw_only=True, slots=True)
class Maker:
    """Makes and describes."""

    serving: Serving
    local: Mapping[str, Any]
    """The settings of this machine for each job."""

    def make(
        self,
        kind: StepType,
        arguments: Mapping[str, Any],
        *,
        name: str,
        sources: Mapping[str, str],
        with_job: Mapping[str, Any],
    ) -> tuple[str, str]:
        """Make it; returns its name and its ARN. If it was made before under this name, that is the answer.

        `sources`: locations that earlier steps have written, and the folders of this machine where that is.
        """
        asked = {kind.named: name, **arguments}
        if kind.name == _REGISTER:
            asked = {_IDEMPOTENT: name[-_LONGEST_TOKEN:].lstrip("-"), **arguments}
            if "ModelPackageGroupName" in arguments:
                self._make_group(arguments)
            else:
                asked.setdefault(kind.named, name)
        called = str(asked.get(kind.named, name))
        remote = read_by(kind, arguments, sources)
        local = {**self.local, "Sources": {**remote, **(self.local.get("Sources") or {})}}
        serving = replace(self.serving, with_jobs=with_job, options=self._options(sources))
        try:
            answer = self._call(serving, kind.operation, {**asked, LOCAL: local})
        except RefusedError:
            there = self._there(kind, called, asked, with_job)
            if there is None:
                raise
            return there
        arn = next(str(value) for member, value in answer.items() if member.endswith("Arn"))
        return (arn if kind.name == _REGISTER else called), arn

    def _make_group(self, arguments: Mapping[str, Any]) -> None:
        """Make the group of the model that is to be registered, as the service does. It may be there."""
        group = arguments.get("ModelPackageGroupName")
        if isinstance(group, str) and not group.startswith("arn:"):
            with suppress(RefusedError):
                self._call(self.serving, "CreateModelPackageGroup", {"ModelPackageGroupName": group})

    def _options(self, sources: Mapping[str, str]) -> Options:
        """Those of the server: also if its clients may name few folders, a step may use what others have written."""
        options = self.serving.options
        allowed = options.rights.allowed_paths
        if allowed is None:
            return options
        return replace(options, rights=replace(options.rights, allowed_paths=(*allowed, *sources.values())))

    def _there(
        self, kind: StepType, name: str, asked: Mapping[str, Any], with_job: Mapping[str, Any]
    ) -> tuple[str, str] | None:
        """What an earlier leader has made under this name for this step.

        What has a name of the definition's counts if the same request has made it since the execution began.
        """
        store = self.serving.store
        for document, mine in with_job.items():
            for record, found in store.jobs_with(document, [name]):
                if found == mine:
                    return name, record.arn
        resource = store.resource(_RESOURCES.get(kind.name, ""), name)
        if resource is None:
            return None
        began = min((store.get(mine["Name"]).created for mine in with_job.values() if "Name" in mine), default=math.inf)
        same = resource.created >= began and all(resource.body.get(member) == each for member, each in asked.items())
        return (name, resource.arn) if same or name.startswith("pipelines-") else None

    def describe(self, kind: StepType, name: str) -> dict[str, Any]:
        """The answer of its Describe operation, without smlocal's own members."""
        stem = kind.operation.removeprefix("Create")
        return self._call(self.serving, f"Describe{stem}", {kind.named: name})

    def reopen(self) -> None:
        """Answer containers that use S3 of the leader that has started their jobs, and was killed."""
        reopen(self.serving)

    def trials(self, name: str, objective: str) -> list[dict[str, Any]]:
        """The training jobs of a tuning job, the best first. `objective`: Minimize or Maximize."""
        asked = {
            "HyperParameterTuningJobName": name,
            "SortBy": "FinalObjectiveMetricValue",
            "SortOrder": "Ascending" if objective == "Minimize" else "Descending",
            "MaxResults": 100,
        }
        found = self._call(self.serving, "ListTrainingJobsForHyperParameterTuningJob", asked)
        return list(found["TrainingJobSummaries"])

    def _call(self, serving: Serving, operation: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        model = operation_model(_SERVICE, operation)
        if model is None:
            raise RefusedError(f"smlocal does not emulate {operation}.")
        try:
            of_user = serving.options.rights.allowed_paths is None
            if of_user and operation.endswith("Job"):  # as in a job file: local paths, and no role
                parameters = dict(asked)
            else:
                parameters = checked(_SERVICE, operation, model.input_shape, dict(asked))
            call = AwsCall(
                service=_SERVICE, operation=operation, parameters=parameters, region=serving.region, access_key=None
            )
            answer: dict[str, Any] = HANDLERS[operation](serving, call)
        except ServiceError as error:
            raise RefusedError(error.message, _EXCEPTIONS.get(error.code, "")) from error
        except SmlocalError as error:
            raise RefusedError(error.with_details, _EXCEPTIONS["InternalFailure"]) from error
        return answer


def read_by(kind: StepType, arguments: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, str]:
    """The locations that the request may read: a note of the job names those that it does not."""
    remote = {uri: folder for uri, folder in sources.items() if uri.startswith("s3://")}
    text = json.dumps(arguments, ensure_ascii=False)
    if kind.name not in {"Training", "Processing"} or "Manifest" in text:
        return remote  # others read what a model, or a manifest, names
    return {uri: folder for uri, folder in remote.items() if uri.rstrip("/") in text}
