"""The caller's identity, and the rights of roles, as the SDKs ask for them."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError


def test_the_execution_role_is_found_as_the_sdk_finds_it(endpoint: Any) -> None:
    identity = endpoint.client("sts").get_caller_identity()
    role = re.sub(r"^(.+)sts::(\d+):assumed-role/(.+?)/.*$", r"\1iam::\2:role/\3", identity["Arn"])
    found = endpoint.client("iam").get_role(RoleName=role.rpartition("/")[2])["Role"]

    assert role == found["Arn"] == f"arn:aws:iam::{identity['Account']}:role/smlocal"
    assert identity["UserId"] == f"{found['RoleId']}:smlocal"
    (statement,) = found["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert statement["Effect"] == "Allow"


def test_every_action_is_allowed_on_every_resource_page_by_page(endpoint: Any) -> None:
    actions = ["sagemaker:CreateTrainingJob", "s3:PutObject", "ecr:BatchGetImage"]
    resources = ["arn:aws:s3:::one", "arn:aws:s3:::two/*"]
    pages = endpoint.client("iam").get_paginator("simulate_principal_policy")
    asked = pages.paginate(
        PolicySourceArn="arn:aws:iam::000000000000:role/any",
        ActionNames=actions,
        ResourceArns=resources,
        PaginationConfig={"PageSize": 4},
    )
    results = asked.build_full_result()["EvaluationResults"]

    assert [(each["EvalActionName"], each["EvalResourceName"]) for each in results] == [
        (action, resource) for action in actions for resource in resources
    ]
    assert {each["EvalDecision"] for each in results} == {"allowed"}


def test_what_the_model_forbids_and_what_is_not_emulated_is_refused(endpoint: Any) -> None:
    iam = endpoint.client("iam", parameter_validation=False)
    with pytest.raises(ClientError) as refused:
        iam.get_role(RoleName="a b")
    assert refused.value.response["Error"]["Code"].startswith("Validation")
    with pytest.raises(ClientError) as refused:
        iam.simulate_principal_policy(
            PolicySourceArn="arn:aws:iam::000000000000:role/any", ActionNames=["s3:GetObject"], Marker="7"
        )
    assert refused.value.response["Error"]["Code"] == "InvalidInput"
    with pytest.raises(ClientError, match="smlocal does not emulate AssumeRole"):
        endpoint.client("sts").assume_role(RoleArn="arn:aws:iam::000000000000:role/any", RoleSessionName="mine")
