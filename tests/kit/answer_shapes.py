"""Compares the answers of a server with botocore's models: nothing that a client would refuse, miss or not expect."""

import json
from typing import Any

from botocore.validate import ParamValidator
from tests.kit.boto_sessions import boto_session


def hold_to_model(client: Any) -> None:
    """Have every answer to this client checked; a wrong one is an AssertionError in the call."""
    client.meta.events.register("after-call", _check)


def check_answer(model: Any, parsed: dict[str, Any], body: bytes) -> None:
    """The parsed answer has the required members with the right types, and the body has no others."""
    shape = model.output_shape
    if shape is None:
        return
    answer = {name: value for name, value in parsed.items() if name != "ResponseMetadata"}
    if model.has_event_stream_output:  # its events are parsed as they come
        answer["Body"] = {}
    if model.name == "GetRole":  # botocore has parsed the policy, against its own model
        role = answer["Role"]
        answer["Role"] = {**role, "AssumeRolePolicyDocument": json.dumps(role["AssumeRolePolicyDocument"])}
    if model.name == "GetBucketLocation" and answer["LocationConstraint"] is None:  # as botocore reads us-east-1
        answer = {}
    report = ParamValidator().validate(answer, shape).generate_report()
    # The service answers an empty list without channels, although its model wants one.
    errors = [line for line in report.splitlines() if "InputDataConfig, value: 0, valid min length: 1" not in line]
    assert not errors, f"{model.name}: {errors}"
    if body.startswith(b"{"):
        foreign = foreign_members(shape, json.loads(body), model.name)
        assert not foreign, f"not in the model: {', '.join(foreign)}"


def _check(http_response: Any, parsed: dict[str, Any], model: Any, **_: Any) -> None:
    if http_response.status_code < 300:
        events = model.has_event_stream_output
        body = b"" if model.has_streaming_output or events else http_response.content
        check_answer(model, parsed, body)


def foreign_members(shape: Any, value: Any, place: str) -> list[str]:
    """Members that the model does not have."""
    if shape.type_name == "structure":
        found = [f"{place}.{name}" for name in value if name not in shape.members]
        for name in value.keys() & shape.members.keys():
            found += foreign_members(shape.members[name], value[name], f"{place}.{name}")
        return found
    if shape.type_name == "list":
        return [name for each in value for name in foreign_members(shape.member, each, f"{place}[]")]
    if shape.type_name == "map":
        return [name for each in value.values() for name in foreign_members(shape.value, each, f"{place}{{}}")]
    return []


def client_of(address: str, service: str, **config: Any) -> Any:
    """A client of boto3's, as a user makes it, that does not try again and holds each answer to the model."""
    from botocore.config import Config

    session = boto_session(aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
    settings = {"retries": {"max_attempts": 0}, "connect_timeout": 5, "read_timeout": 60, **config}
    client = session.client(service, endpoint_url=address, config=Config(**settings))
    hold_to_model(client)
    return client
