import socket
from typing import Any

import pytest
from tests.unit.service.aws_answers import aws_answering

from smlocal import errors
from smlocal.service.service import Service

pytestmark = pytest.mark.usefixtures("aws_user")
REFUSALS = [
    ("AccessDeniedException", 400, "User: x is not authorized", errors.ServiceForbiddenError),
    (
        "ExpiredTokenException",
        400,
        "The security token included in the request is expired",
        errors.CredentialsMissingError,
    ),
    ("UnrecognizedClientException", 400, "The security token is invalid", errors.CredentialsMissingError),
    ("InvalidSignatureException", 400, "Signature expired: 1 is now earlier than 2", errors.ClockWrongError),
    ("ValidationException", 400, "Requested resource not found.", errors.ServiceJobUnknownError),
    ("ValidationException", 400, "1 validation error detected", errors.ServiceRefusedError),
    ("ThrottlingException", 400, "Rate exceeded", errors.ServiceUnreachableError),
    ("InternalFailure", 500, "", errors.ServiceUnreachableError),
]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(("code", "status", "message", "kind"), REFUSALS)
def test_each_cause_is_an_error_of_its_own(
    code: str, status: int, message: str, kind: type[errors.SmlocalError]
) -> None:
    with (
        aws_answering({"DescribeTrainingJob": (status, {"__type": code, "message": message})}) as address,
        pytest.raises(errors.SmlocalError) as raised,
    ):
        Service(endpoint_url=address).describe("held")
    assert type(raised.value) is kind
    assert raised.value.details == (f"DescribeTrainingJob: {code}: {message}",)
    assert raised.value.remedy or kind is errors.ServiceRefusedError


def test_the_missing_right_and_the_region_are_named() -> None:
    forbidden = {"__type": "AccessDeniedException", "message": "no"}
    unknown = {"__type": "ValidationException", "message": "Requested resource not found."}
    with aws_answering({"ListTags": (400, forbidden), "DescribeTrainingJob": (400, unknown)}) as address:
        service = Service(endpoint_url=address, region="us-west-2")
        with pytest.raises(errors.ServiceForbiddenError, match="may not do sagemaker:ListTags") as raised:
            service.tags("arn:aws:sagemaker:eu-west-1:123456789012:training-job/held")
        assert raised.value.action == "sagemaker:ListTags"
        with pytest.raises(errors.ServiceJobUnknownError, match="no training job held in us-west-2"):
            service.describe("held")


def test_all_pages_are_read() -> None:
    pages: list[dict[str, Any]] = [
        {"Tags": [{"Key": "a", "Value": "1"}], "NextToken": "x"},
        {"Tags": [{"Key": "b", "Value": "2"}]},
    ]

    class Pages(dict[str, Any]):
        def __getitem__(self, operation: str) -> tuple[int, dict[str, Any]]:
            assert operation == "ListTags"
            return 200, pages.pop(0)

    with aws_answering(Pages()) as address:
        tags = Service(endpoint_url=address).tags("arn:aws:sagemaker:eu-west-1:123456789012:training-job/held")
    assert [tag["Key"] for tag in tags] == ["a", "b"]


def test_nobody_answers(aws_user: pytest.MonkeyPatch) -> None:
    aws_user.setenv("https_proxy", "private.example:3128")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        service = Service(endpoint_url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(errors.ServiceUnreachableError, match="SageMaker does not answer in eu-west-1") as caught:
            service.describe("held")
    assert caught.value.remedy[0] == "Does the proxy answer?  https_proxy is private.example:3128"


def test_without_a_region(aws_user: pytest.MonkeyPatch) -> None:
    aws_user.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(errors.RegionMissingError):
        Service().describe("held")
    with pytest.raises(errors.RegionNameError):
        Service(region="not a region").describe("held")


def test_without_credentials_and_with_a_profile_that_does_not_exist(aws_user: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.CredentialsMissingError, match="SageMaker needs AWS credentials") as raised:
        Service(profile="none").describe("held")
    assert raised.value.details == ("the profile none is not in the AWS configuration files",)
    aws_user.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(errors.CredentialsMissingError, match="SageMaker needs AWS credentials"):
        Service().describe("held")


def test_an_endpoint_that_is_no_address() -> None:
    with pytest.raises(errors.AwsConfigurationError, match="the endpoint of SageMaker"):
        Service(endpoint_url="nowhere").describe("held")


def test_a_mistake_that_botocore_finds() -> None:
    with pytest.raises(errors.ServiceRefusedError, match="CreateTrainingJob is not sent") as raised:
        Service().call("sagemaker", "CreateTrainingJob", TrainingJobName="held")
    assert any("RoleArn" in line for line in raised.value.details)
