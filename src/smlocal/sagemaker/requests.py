"""The requests of SageMaker that files hold: how their members are handled, and the schemas of the files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.local_schema import DRAFT, local_schema, local_schema_of, plain_schema, without_null
from smlocal.jobfile.option import Taker
from smlocal.jobfile.settings import LocalSettings, refused_settings
from smlocal.sagemaker.contract.coverage.members import MEMBERS as OF_TRAINING
from smlocal.sagemaker.contract.model.hosting import CreateEndpointConfigInput, CreateEndpointInput, CreateModelInput
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.contract.model.transform import CreateTransformJobRequest
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.jobfile.job_file import FAULT_KINDS
from smlocal.sagemaker.processing.job_file import WITHOUT_USE
from smlocal.sagemaker.processing.members import MEMBERS as OF_PROCESSING
from smlocal.sagemaker.serving.members import MEMBERS as OF_HOSTING
from smlocal.sagemaker.serving.model_file import SERVING, TAKEN, ModelRequest, ServingLimits
from smlocal.sagemaker.transform.members import MEMBERS as OF_TRANSFORM_FILES
from smlocal.sagemaker.transform.members import OF_THE_JOB as OF_TRANSFORM
from smlocal.sagemaker.transform.transform_file import USED, TransformRequest
from smlocal.sagemaker.tuning.members import MEMBERS as OF_TUNING
from smlocal.terms.member_table import MemberTable, Row
from smlocal.terms.model.as_pydantic import pydantic_model
from smlocal.terms.model.structure import Structure, members

_Local = tuple[dict[str, Any], dict[str, Any]]
"""The block, and the definitions that it refers to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One of them."""

    shape: type[Structure]
    table: MemberTable
    """Its members; of a file that holds several requests, those of all."""
    schema: Callable[[], dict[str, Any]]
    """The JSON Schema of the file that holds it."""

    @property
    def members(self) -> MemberTable:
        """Only its own members."""
        return self.table.of(self.shape)


def job_file_schema() -> dict[str, Any]:
    """The request as smlocal takes it (role and name may be absent, paths may be local), and `Local`."""
    return _file_schema(
        CreateTrainingJobRequest,
        OF_TRAINING.rows,
        local=local_schema(Taker.TRAINING, faults=FAULT_KINDS),
        required=("AlgorithmSpecification", "ResourceConfig"),  # needed by any job that has a container
        title="smlocal job file",
        description="A CreateTrainingJob request, with settings for this machine under Local.",
    )


def model_file_schema() -> dict[str, Any]:
    """The three requests in one document, and `Local`. A role, names and variants may be absent."""
    return _file_schema(
        ModelRequest,
        OF_HOSTING.rows,
        local=_local_of_serving(TAKEN),
        title="smlocal model file",
        description=(
            "The requests CreateModel, CreateEndpointConfig and CreateEndpoint in one document, with settings for "
            "this machine under Local."
        ),
    )


def transform_file_schema() -> dict[str, Any]:
    """The request and its model in one document, and `Local`. A role, names and resources may be absent."""
    return _file_schema(
        TransformRequest,
        OF_TRANSFORM_FILES.rows,
        local=_local_of_serving(USED),
        title="smlocal transform file",
        description=(
            "A CreateTransformJob request with the members of CreateModel, and with settings for this machine under "
            "Local."
        ),
    )


def processing_file_schema() -> dict[str, Any]:
    """The request as smlocal takes it, and `Local`."""
    return _file_schema(
        CreateProcessingJobRequest,
        OF_PROCESSING.rows,
        local=_local_without(WITHOUT_USE),
        title="smlocal processing job file",
        description="A CreateProcessingJob request, with settings for this machine under Local.",
    )


def tuning_file_schema() -> dict[str, Any]:
    """The request as smlocal takes it, and `Local`, which is that of its training jobs."""
    return _file_schema(
        CreateHyperParameterTuningJobRequest,
        OF_TUNING.rows,
        local=_local_without(()),
        title="smlocal tuning job file",
        description="A CreateHyperParameterTuningJob request, with settings for this machine under Local.",
    )


def _local_of_serving(settings: Collection[str]) -> _Local:
    """The block of a file whose containers serve, and its definitions."""
    local, definitions = local_schema_of(settings)
    local["properties"][SERVING] = pydantic_model(ServingLimits).model_json_schema()
    return local, definitions


def _local_without(unused: Iterable[str]) -> _Local:
    """The block of training jobs without these settings, and its definitions."""
    left_out = {*unused, *refused_settings(Taker.TRAINING)}
    return local_schema_of([name for name in members(LocalSettings) if name not in left_out])


def _file_schema(
    request: type[Structure],
    rows: Mapping[str, Row],
    *,
    local: _Local,
    required: Sequence[str] = (),
    title: str,
    description: str,
) -> dict[str, Any]:
    """A request with its members described by their rows, and `Local`: its schema, and the definitions in that.

    `required` are members that the service does not need and smlocal does.
    """
    schema = pydantic_model(request).model_json_schema()
    block, of_local = local
    schema["properties"]["Local"] = block
    if required:
        schema["required"] = [*schema.get("required", ()), *required]
    schema["$defs"] = {**schema.get("$defs", {}), **of_local}
    for name, row in rows.items():
        member = _member(schema, name.removesuffix("[]"))
        if member is not None:
            member["description"] = f"{row.support}: {row.note}"
    return {"$schema": DRAFT, "title": title, "description": description, **plain_schema(schema, top=True)}


def _member(schema: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The schema of one member, by its dotted name."""
    place: dict[str, Any] = schema
    found: dict[str, Any] | None = None
    for step in name.split("."):
        found = place.get("properties", {}).get(step.removesuffix("[]"))
        if found is None:
            return None
        inner = without_null(found)
        inner = inner.get("items", inner) if step.endswith("[]") else inner
        reference = inner.get("$ref")
        place = schema["$defs"][reference.rpartition("/")[2]] if reference else inner
    return found


REQUESTS: Final[Mapping[str, Request]] = {
    "CreateTrainingJob": Request(shape=CreateTrainingJobRequest, table=OF_TRAINING, schema=job_file_schema),
    "CreateModel": Request(shape=CreateModelInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateEndpointConfig": Request(shape=CreateEndpointConfigInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateEndpoint": Request(shape=CreateEndpointInput, table=OF_HOSTING, schema=model_file_schema),
    "CreateProcessingJob": Request(
        shape=CreateProcessingJobRequest, table=OF_PROCESSING, schema=processing_file_schema
    ),
    "CreateTransformJob": Request(shape=CreateTransformJobRequest, table=OF_TRANSFORM, schema=transform_file_schema),
    "CreateHyperParameterTuningJob": Request(
        shape=CreateHyperParameterTuningJobRequest, table=OF_TUNING, schema=tuning_file_schema
    ),
}
