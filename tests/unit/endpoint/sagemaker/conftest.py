"""Pipelines that tests make by calls."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask

from smlocal.endpoint.call import ServiceError

ROLE = "arn:aws:iam::123456789012:role/T"
ARN = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/{}"
Pipelines = Callable[..., dict[str, Any]]


def definition(*steps: Any, **more: Any) -> str:
    """The JSON of a definition; by default with a step that fails."""
    return json.dumps({"Version": "2020-12-01", "Steps": list(steps) or [FAIL], **more})


FAIL = {"Name": "F", "Type": "Fail", "Arguments": {"ErrorMessage": "no"}}
LAMBDA = {"Name": "L", "Type": "Lambda", "FunctionArn": "arn:aws:lambda:eu-west-1:1:function:f", "Arguments": {}}


def token(number: int) -> str:
    """A ClientRequestToken."""
    return f"{number:032}"


@pytest.fixture
def create_pipeline(ask: Ask) -> Pipelines:
    """`create_pipeline("p", PipelineDescription=…)`"""

    def made(name: str, **more: Any) -> dict[str, Any]:
        given = {"PipelineDefinition": definition()} if "PipelineDefinitionS3Location" not in more else {}
        asked = {"RoleArn": ROLE, "ClientRequestToken": token(len(name)), **given, **more}
        return ask("sagemaker", "CreatePipeline", PipelineName=name, **asked)

    return made


def refusal(call: Callable[[], Any]) -> tuple[str, str]:
    """The code and the message of the answer."""
    with pytest.raises(ServiceError) as raised:
        call()
    return raised.value.code, raised.value.message
