"""The JSON Schema of a transform file."""

from typing import Any

from smlocal.jobfile.local_schema import local_schema_of
from smlocal.jobs.contract.model.as_pydantic import pydantic_model
from smlocal.sagemaker.hosting.model_file import SERVING, ServingLimits
from smlocal.sagemaker.jobfile.schema import file_schema
from smlocal.sagemaker.transform.members import MEMBERS
from smlocal.sagemaker.transform.transform_file import USED, TransformRequest


def transform_file_schema() -> dict[str, Any]:
    """The request and its model in one document, and `Local`. A role, names and resources may be absent."""
    local, definitions = local_schema_of(USED)
    local["properties"][SERVING] = pydantic_model(ServingLimits).model_json_schema()
    return file_schema(
        TransformRequest,
        MEMBERS.rows,
        local=(local, definitions),
        title="smlocal transform file",
        description=(
            "A CreateTransformJob request with the members of CreateModel, and with settings for this machine under "
            "Local."
        ),
    )
