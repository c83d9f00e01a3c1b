"""The requests of SageMaker that files hold: how their members are handled, and the schemas of the files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.local_schema import DRAFT, local_schema, plain_schema, without_null
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.contract.model.hosting import CreateEndpointConfigInput, CreateEndpointInput, CreateModelInput
from smlocal.sagemaker.jobfile.request_reading import FAULT_KINDS
from smlocal.sagemaker.kinds import ENDPOINT, PROCESSING, TRAINING, TRANSFORM, TUNING, request_reading
from smlocal.sagemaker.pipelines.members import TABLE as OF_PIPELINES
from smlocal.sagemaker.pipelines.members import CreatePipelineRequest, OwnSettings
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES
from smlocal.terms.member_table import MemberTable, Row
from smlocal.terms.model.as_pydantic import pydantic_model
from smlocal.terms.model.structure import Structure

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


def _schema_of(kind: Kind, *, file: str, says: str, required: Sequence[str] = ()) -> Callable[[], dict[str, Any]]:
    """The schema of the files of a kind. `required`: members that the service does not need, and a container does."""
    reading = request_reading(kind)

    def schema() -> dict[str, Any]:
        local = local_schema(reading.REFUSED, faults=FAULT_KINDS, blocks=reading.BLOCKS)
        return _file_schema(
            reading.SHAPE,
            reading.TABLE.rows,
            local=local,
            required=required,
            title=f"smlocal {file}",
            description=f"{says} settings for this machine under Local.",
        )

    return schema


def _schema_of_pipelines() -> dict[str, Any]:
    """The schema of the files of pipelines."""
    block, definitions = local_schema((), faults=FAULT_KINDS)
    own = pydantic_model(OwnSettings).model_json_schema()
    block["properties"] |= own["properties"]
    schema = _file_schema(
        CreatePipelineRequest,
        OF_PIPELINES.rows,
        local=(block, {**definitions, **own["$defs"]}),
        title="smlocal pipeline file",
        description="A definition, or a CreatePipeline request, with settings for this machine under Local.",
    )
    schema["$defs"]["PipelineStep"]["properties"]["Type"]["enum"] = [*STEP_TYPES]
    return schema


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


def _requests() -> Iterator[tuple[str, Request]]:
    training, processing, tuning = (request_reading(kind) for kind in (TRAINING, PROCESSING, TUNING))
    endpoint, transform = request_reading(ENDPOINT), request_reading(TRANSFORM)
    of_training = _schema_of(
        TRAINING,
        file="job file",
        says="A CreateTrainingJob request, with",
        required=("AlgorithmSpecification", "ResourceConfig"),
    )
    of_models = _schema_of(
        ENDPOINT,
        file="model file",
        says="The requests CreateModel, CreateEndpointConfig and CreateEndpoint in one document, with",
    )
    yield "CreateTrainingJob", Request(shape=training.SHAPE, table=training.TABLE, schema=of_training)
    for shape in (CreateModelInput, CreateEndpointConfigInput, CreateEndpointInput):
        yield shape.__name__.removesuffix("Input"), Request(shape=shape, table=endpoint.TABLE, schema=of_models)
    of_processing = _schema_of(PROCESSING, file="processing job file", says="A CreateProcessingJob request, with")
    yield "CreateProcessingJob", Request(shape=processing.SHAPE, table=processing.TABLE, schema=of_processing)
    of_transform = _schema_of(
        TRANSFORM,
        file="transform file",
        says="A CreateTransformJob request with the members of CreateModel, and with",
    )
    asked = transform.shape(strict=True)
    yield "CreateTransformJob", Request(shape=asked, table=transform.TABLE.of(asked), schema=of_transform)
    of_tuning = _schema_of(TUNING, file="tuning job file", says="A CreateHyperParameterTuningJob request, with")
    yield "CreateHyperParameterTuningJob", Request(shape=tuning.SHAPE, table=tuning.TABLE, schema=of_tuning)
    yield "CreatePipeline", Request(shape=CreatePipelineRequest, table=OF_PIPELINES, schema=_schema_of_pipelines)


REQUESTS: Final[Mapping[str, Request]] = dict(_requests())
