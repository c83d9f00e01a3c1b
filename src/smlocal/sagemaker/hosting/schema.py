"""The JSON Schema of a model file."""

from typing import Any

from smlocal.jobfile.local_schema import local_schema_of
from smlocal.jobs.contract.model.as_pydantic import pydantic_model
from smlocal.sagemaker.hosting.members import TABLE
from smlocal.sagemaker.hosting.model_file import SERVING, TAKEN, ModelRequest, ServingLimits
from smlocal.sagemaker.jobfile.schema import file_schema


def model_file_schema() -> dict[str, Any]:
    """The three requests in one document, and `Local`. A role, names and variants may be absent."""
    local, definitions = local_schema_of(TAKEN)
    local["properties"][SERVING] = pydantic_model(ServingLimits).model_json_schema()
    return file_schema(
        ModelRequest,
        TABLE,
        local=(local, definitions),
        title="smlocal model file",
        description=(
            "The requests CreateModel, CreateEndpointConfig and CreateEndpoint in one document, with settings for "
            "this machine under Local."
        ),
    )
