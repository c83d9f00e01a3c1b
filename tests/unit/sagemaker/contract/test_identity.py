from datetime import UTC, datetime

import pytest

from smlocal.sagemaker.contract import identity

ECR = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/image:1"


def test_the_arn_lower_cases_the_name() -> None:
    arn = identity.sagemaker_arn("training-job", "Task1-ABC", region="us-west-2", account="123456789012")
    assert arn == "arn:aws:sagemaker:us-west-2:123456789012:training-job/task1-abc"


def test_other_services_keep_the_case_and_those_without_regions_name_none() -> None:
    where = {"region": "cn-north-1", "account": "123456789012"}
    assert identity.arn("logs", "log-group:/A", **where) == "arn:aws-cn:logs:cn-north-1:123456789012:log-group:/A"
    assert identity.arn("iam", "role/R", **where) == "arn:aws-cn:iam::123456789012:role/R"


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_the_partition_follows_the_region(region: str, partition: str) -> None:
    assert identity.sagemaker_arn("training-job", "a", region=region, account="1").startswith(f"arn:{partition}:")


def test_the_region_comes_from_the_first_that_says_one() -> None:
    full = {"AWS_REGION": "a-1", "AWS_DEFAULT_REGION": "b-1"}
    assert identity.region(stated="s-1", environment=full, profile="p-1", image=ECR) == "s-1"
    assert identity.region(stated=None, environment=full, profile="p-1", image=ECR) == "a-1"
    assert identity.region(stated=None, environment={"AWS_DEFAULT_REGION": "b-1"}, profile="p-1", image=ECR) == "b-1"
    assert identity.region(stated=None, environment={}, profile="p-1", image=ECR) == "p-1"
    assert identity.region(stated=None, environment={}, profile=None, image=ECR) == "eu-west-1"
    assert identity.region(stated=None, environment={}, profile=None, image="held-tree") == "us-east-1"


def test_the_account_comes_from_the_role_then_the_image() -> None:
    assert identity.account(role="arn:aws:iam::999999999999:role/r", image=ECR) == "999999999999"
    assert identity.account(role=None, image=ECR) == "123456789012"
    assert identity.account(role=None, image="held-tree") == "000000000000"


@pytest.mark.parametrize(
    ("stem", "start"),
    [("job", "job-"), ("my_job.v2", "my-job-v2-"), ("___", "job-"), ("x" * 100, "x" * 40), ("-a-", "a-")],
)
def test_a_default_name_is_one_the_service_accepts(stem: str, start: str) -> None:
    import re

    name = identity.default_name(stem, datetime(2026, 11, 20, 14, 12, 7, 123_000, tzinfo=UTC))
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", name)
    assert name.startswith(start)
    assert name.endswith("-20261120-141207-123")


def test_the_hostname_is_like_an_instances() -> None:
    assert identity.instance_hostname(1, "us-west-2") == "ip-10-0-0-5.us-west-2.compute.internal"
    assert identity.instance_hostname(2, "us-east-1") == "ip-10-0-0-6.ec2.internal"
